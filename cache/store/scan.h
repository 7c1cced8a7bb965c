// What a cache holds. One damaged entry never hides the others: it is told as a problem of its repository.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cache/store/store.h"

namespace hf::cache {

struct CachedRevision {
  std::string commit;
  std::vector<std::string> refs;  // branches and tags that stand for it, sorted
  std::uint64_t files = 0, bytes = 0;
  std::filesystem::path path;
};

struct CachedRepo {
  Repo repo;
  std::vector<CachedRevision> revisions;  // sorted by commit
  std::uint64_t bytes = 0;                // of all revisions, content that several share counted once
  std::uint64_t partial_bytes = 0;        // of unfinished downloads, ours and huggingface_hub's
  std::vector<std::string> problems;
};

// Sorted by type and id. A root that does not exist holds nothing.
std::vector<CachedRepo> scan(const Store& store);

}  // namespace hf::cache
