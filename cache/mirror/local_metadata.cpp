#include "cache/mirror/local_metadata.h"

#include <array>
#include <charconv>
#include <cmath>

#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return without_spaces(line);
}

}  // namespace

std::string metadata_text(const LocalMetadata& metadata) {
  std::array<char, 400> digits{};  // the shortest that reads back as the same number, as Python writes it
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), metadata.time, std::chars_format::fixed)
          .ptr;
  std::string time(digits.data(), end);
  if (time.find('.') == std::string::npos) time += ".0";
  return metadata.commit + "\n" + metadata.etag + "\n" + time + "\n";
}

std::optional<LocalMetadata> parse_metadata(std::string_view text) {
  LocalMetadata metadata;
  metadata.commit = next_line(text);
  metadata.etag = next_line(text);
  const std::string_view time = next_line(text);
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), metadata.time);
  const bool is_number =
      error == std::errc() && end == time.data() + time.size() && std::isfinite(metadata.time);
  if (!is_number || !is_etag(metadata.etag)) return std::nullopt;
  return metadata;
}

}  // namespace hf::cache
