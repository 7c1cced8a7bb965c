// Response headers, and the values in them that this client acts upon. All of it is a stranger's text: each
// function here is pure and takes anything.
#pragma once
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hf::cache {

class Headers {
 public:
  // One line as it came, "Name: value\r\n"; what is not one is ignored.
  void add_line(std::string_view line);
  std::optional<std::string_view> find(std::string_view name) const;  // any case; the last one counts
  void clear() { fields_.clear(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;  // names in lower case
};

// `Link: <url>; rel="next"`: the URL; nothing where no link is the next one.
std::optional<std::string> next_link(std::string_view link);

// `Content-Range: bytes first-last/total`.
struct ContentRange {
  std::uint64_t first, last;
  std::optional<std::uint64_t> total;  // "*" where the server does not know
};
std::optional<ContentRange> parse_content_range(std::string_view value);

// A decimal number and nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text);

// How many seconds a server asks to be left alone: the `t` of `RateLimit: "api";r=0;t=55` plus one, else
// `Retry-After` in seconds or as a date. Never more than an hour.
std::optional<unsigned> requested_wait(const Headers& headers, std::time_t now);

// An ETag without W/ and quotes, as the cache names blobs by: W/"abc" -> abc.
std::string plain_etag(std::string_view etag);

}  // namespace hf::cache
