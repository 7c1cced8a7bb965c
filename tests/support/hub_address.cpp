#include "support/hub_address.h"

#include <algorithm>
#include <regex>

#include "cache/http/headers.h"
#include "support/http_server.h"

namespace hf::test {

std::optional<Address> parse_api(const std::string& path) {
  static const std::regex kForm(
      "/api/(models|datasets|spaces)/([^/]+(?:/(?!(?:revision|tree|paths-info|refs)(?:/|$))[^/]+)?)"
      "(?:/(revision|tree|paths-info|refs)(?:/([^/]+)(?:/(.*))?)?)?/?");
  std::smatch parts;
  if (!std::regex_match(path, parts, kForm)) return std::nullopt;
  const std::string revision = parts[4].matched ? percent_decoded(parts[4].str()) : "main";
  return Address{parts[1], percent_decoded(parts[2].str()), parts[3], revision,
                 percent_decoded(parts[5].str())};
}

std::optional<Address> parse_file(const std::string& path) {
  static const std::regex kForm(
      "/(?:(datasets|spaces)/)?([^/]+(?:/(?!resolve/)[^/]+)?)/resolve/([^/]+)/(.+)");
  std::smatch parts;
  if (!std::regex_match(path, parts, kForm)) return std::nullopt;
  return Address{parts[1].matched ? parts[1].str() : "models", percent_decoded(parts[2].str()), "resolve",
                 percent_decoded(parts[3].str()), percent_decoded(parts[4].str())};
}

std::optional<ByteRange> parse_range(const std::string& range, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!range.starts_with(kUnit)) return std::nullopt;
  const std::size_t dash = range.find('-');
  const auto first = cache::parse_number(range.substr(kUnit.size(), dash - kUnit.size()));
  if (!first || dash == std::string::npos) return std::nullopt;
  const std::string end = range.substr(dash + 1);
  const auto last = end.empty() ? size - 1 : cache::parse_number(end);
  if (!last || (*last < *first && *first < size)) return std::nullopt;
  return ByteRange{*first, std::min(*last, size - 1)};
}

}  // namespace hf::test
