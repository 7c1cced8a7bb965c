#include "base/escape.h"

#include <cstdint>

namespace hf {
namespace {

// Length of the UTF-8 sequence at the front of `s` and its code point; 0 where it is not valid.
std::size_t decode(std::string_view s, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80       ? 1
                             : first >> 5 == 6  ? 2
                             : first >> 4 == 14 ? 3
                             : first >> 3 == 30 ? 4
                                                : 0;
  if (length == 0 || length > s.size()) return 0;
  code = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kSmallest[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

bool is_harmless(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool reorders = code == 0x061C || code == 0x200E || code == 0x200F ||
                        (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return !control && !reorders && code != 0xFEFF;
}

}  // namespace

std::string escaped(std::string_view text, std::size_t limit) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  std::size_t at = 0;
  while (at < text.size() && at < limit) {
    std::uint32_t code = 0;
    std::size_t length = decode(text.substr(at), code);
    if (length != 0 && is_harmless(code)) {
      if (code == '\\') out += '\\';
      out += text.substr(at, length);
      at += length;
      continue;
    }
    for (std::size_t end = at + (length == 0 ? 1 : length); at < end; ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  if (at < text.size()) out += "...";
  return out;
}

std::string in_quotes(std::string_view text, std::size_t limit) {
  std::string out = "\"";
  for (char c : escaped(text, limit)) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string shown(const std::filesystem::path& path) { return escaped(path.string(), 4096); }

}  // namespace hf
