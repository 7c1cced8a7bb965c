// What the file system of a folder can take.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace hf::cache {

struct DiskFacts {
  std::filesystem::path folder;             // that was looked at
  std::string kind;                         // "vfat", "ext4" …; empty: not known
  std::optional<std::uint64_t> free_bytes;  // for this user, quotas included; none: not told
  std::optional<std::uint64_t> free_files;  // inodes; none: as many as there is room for
  std::uint64_t block_bytes = 4096;         // what a file's size is rounded up to
  std::uint64_t largest_file = std::numeric_limits<std::uint64_t>::max();
  std::string largest_file_by;                          // what limits it: "vfat", "RLIMIT_FSIZE"
  std::size_t longest_name = 255, longest_path = 4096;  // bytes; a path's with its terminating zero
  bool ignores_case = false;
};

// Of `folder`, or of the nearest folder above that is there. What cannot be found out stays as it is above.
DiskFacts disk_facts(const std::filesystem::path& folder);

}  // namespace hf::cache
