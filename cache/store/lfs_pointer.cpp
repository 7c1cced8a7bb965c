#include "cache/store/lfs_pointer.h"

#include <charconv>

#include "base/hash.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

constexpr std::string_view kVersion = "version https://git-lfs.github.com/spec/v1\n";
constexpr std::string_view kOid = "\noid sha256:";
constexpr std::string_view kSize = "\nsize ";

}  // namespace

std::optional<LfsPointer> parse_lfs_pointer(std::string_view text) {
  if (text.size() > kLargestLfsPointer || !text.starts_with(kVersion)) return std::nullopt;
  const std::size_t oid = text.find(kOid), size = text.find(kSize);
  if (oid == std::string_view::npos || size == std::string_view::npos) return std::nullopt;
  LfsPointer pointer{std::string(text.substr(oid + kOid.size(), 64))};
  const char* const digits = text.data() + size + kSize.size();
  const auto [end, code] = std::from_chars(digits, text.data() + text.size(), pointer.size);
  if (code != std::errc() || pointer.sha256.size() != 64 || !is_etag(pointer.sha256)) return std::nullopt;
  return pointer;
}

std::string git_oid_of(const LfsPointer& pointer) {
  std::string text(kVersion);
  text.pop_back();
  text += std::string(kOid) + pointer.sha256 + std::string(kSize) + std::to_string(pointer.size) + "\n";
  Hasher hasher(HashKind::git_sha1, text.size());
  hasher.update(std::as_bytes(std::span(text)));
  return hasher.hex();
}

}  // namespace hf::cache
