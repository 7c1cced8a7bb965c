// Repositories at random: what a Hub may hold.
#pragma once
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace hf::test {

struct MadeFile {
  std::string path;
  std::uint64_t bytes = 0;
};

struct MadeRepoOptions {
  std::size_t most_files = 10;
  std::uint64_t most_bytes = 6u << 20;  // of a file
  std::uint64_t large_bytes = 0;        // of one more, large.bin; 0: none
};

std::string random_bytes(std::mt19937_64& random, std::uint64_t bytes);

// Files below `folder`: of every size from none to the largest, LFS and git, nested, with names of several
// scripts, some with the same content. One is an LFS file of more than 300,000 bytes.
std::vector<MadeFile> make_repo(const std::filesystem::path& folder, std::mt19937_64& random,
                                const MadeRepoOptions& options = {});

}  // namespace hf::test
