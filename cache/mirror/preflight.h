// What must hold before the first byte is fetched: names that can stand, and a disk that takes it all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/hub/answers.h"
#include "cache/mirror/disk_facts.h"

namespace hf::cache {

struct PreflightFile {
  std::string_view path;
  std::string_view fault;        // TreeFile::fault
  std::uint64_t size = 0;        // of the whole file
  std::uint64_t bytes_left = 0;  // to be fetched; 0 also where the content is there already
  bool is_new = true;            // a file is to be made for its content

  static PreflightFile of(const TreeFile& file, std::uint64_t bytes_left, bool is_new) {
    return {file.path, file.fault, file.size, bytes_left, is_new};
  }
};

struct PreflightNeeds {
  std::filesystem::path names_below;  // the folder that the paths are in: a snapshot, or the user's own
  std::size_t longest_suffix = 0;  // bytes that are added to the last part of a path somewhere (".metadata")
  bool portable = false;           // also refuse names that other systems do not take
  std::vector<PreflightFile> files;  // those selected, in list order
};

// Throws one Error with all that is wrong, in list order, then of the disk as a whole; its kind is the
// first one's: integrity for names, io for what the disk does not take. Returns warnings.
std::vector<std::string> preflight(const PreflightNeeds& needs, const DiskFacts& disk);

}  // namespace hf::cache
