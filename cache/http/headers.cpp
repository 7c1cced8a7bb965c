#include "cache/http/headers.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace hf::cache {
namespace {

constexpr unsigned kLongestWait = 3600;  // seconds

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The front of `text` up to `separator`, which is taken off it too.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

std::optional<unsigned> rate_limit_reset(std::string_view value) {
  while (!value.empty()) {
    const std::string_view field = trimmed(take_until(value, ';'));
    if (!field.starts_with("t=")) continue;
    const auto seconds = parse_number(trimmed(field.substr(2)));
    if (seconds) return static_cast<unsigned>(std::min<std::uint64_t>(*seconds, kLongestWait - 1) + 1);
  }
  return std::nullopt;
}

}  // namespace

void Headers::add_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return;
  fields_.emplace_back(lower(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  const std::string wanted = lower(name);
  const auto found =
      std::find_if(fields_.rbegin(), fields_.rend(), [&](const auto& f) { return f.first == wanted; });
  if (found == fields_.rend()) return std::nullopt;
  return found->second;
}

std::optional<std::string> next_link(std::string_view link) {
  while (true) {
    const std::size_t open = link.find('<');
    if (open == std::string_view::npos) return std::nullopt;
    link.remove_prefix(open + 1);
    const std::size_t close = link.find('>');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view url = link.substr(0, close);
    link.remove_prefix(close + 1);
    std::string_view attributes = link.substr(0, std::min(link.find('<'), link.size()));
    while (!attributes.empty()) {
      const std::string attribute = lower(trimmed(take_until(attributes, ';')));
      const std::string_view plain = trimmed(std::string_view(attribute).substr(0, attribute.find(',')));
      if (plain == "rel=\"next\"" || plain == "rel=next") return std::string(url);
    }
  }
}

std::optional<ContentRange> parse_content_range(std::string_view value) {
  value = trimmed(value);
  if (lower(value.substr(0, 6)) != "bytes ") return std::nullopt;
  std::string_view rest = trimmed(value.substr(6));
  const auto first = parse_number(take_until(rest, '-'));
  const auto last = parse_number(take_until(rest, '/'));
  const auto total = parse_number(rest);
  if (!first || !last || *last < *first || (!total && rest != "*")) return std::nullopt;
  if (total && *last >= *total) return std::nullopt;
  return ContentRange{*first, *last, total};
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<unsigned> requested_wait(const Headers& headers, std::time_t now) {
  if (const auto limit = headers.find("ratelimit"))
    if (const auto reset = rate_limit_reset(*limit)) return reset;
  const auto after = headers.find("retry-after");
  if (!after) return std::nullopt;
  if (const auto seconds = parse_number(*after))
    return static_cast<unsigned>(std::min<std::uint64_t>(*seconds, kLongestWait));
  const std::time_t date = curl_getdate(std::string(*after).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return static_cast<unsigned>(std::clamp<std::time_t>(date - now, 0, kLongestWait));
}

std::string plain_etag(std::string_view etag) {
  etag = trimmed(etag);
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  while (etag.starts_with('"')) etag.remove_prefix(1);
  while (etag.ends_with('"')) etag.remove_suffix(1);
  return std::string(etag);
}

}  // namespace hf::cache
