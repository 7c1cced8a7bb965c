// What git stores in the place of a file that git-lfs keeps: a small text with the content's sha256 and size.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hf::cache {

struct LfsPointer {
  std::string sha256;
  std::uint64_t size = 0;
};

inline constexpr std::uint64_t kLargestLfsPointer = 1024;  // bytes; git-lfs takes no longer text for one

std::optional<LfsPointer> parse_lfs_pointer(std::string_view text);  // nothing for any other text
std::string git_oid_of(const LfsPointer& pointer);  // git's hash of the text that git-lfs writes

}  // namespace hf::cache
