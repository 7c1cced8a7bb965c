#include "cache/http/headers.h"

#include <doctest/doctest.h>

using namespace hf::cache;

namespace {

Headers with(std::initializer_list<const char*> lines) {
  Headers headers;
  for (const char* line : lines) headers.add_line(line);
  return headers;
}

}  // namespace

TEST_CASE("Headers are found in any case and the last one counts") {
  const Headers headers =
      with({"ETag:  \"a\" \r\n", "etag: \"b\"\r\n", "\r\n", "no colon", ": no name", "Empty:"});
  CHECK(headers.find("ETAG") == "\"b\"");
  CHECK(headers.find("empty") == "");
  CHECK_FALSE(headers.find("x-linked-etag"));
}

TEST_CASE("The next page of a Link") {
  CHECK(next_link("<https://h/x?cursor=a>; rel=\"next\"") == "https://h/x?cursor=a");
  CHECK(next_link("<https://h/1>; rel=\"prev\", <https://h/3>; title=\"x\"; rel=\"next\"") == "https://h/3");
  CHECK(next_link("</relative>; REL=next") == "/relative");
  for (const char* none : {"", "<https://h/1>; rel=\"prev\"", "<https://h/1", "https://h/1; rel=\"next\"",
                           "<<>", "<a>rel=\"next\"x"})
    CHECK_FALSE(next_link(none));
}

TEST_CASE("Content-Range") {
  const auto range = parse_content_range("bytes 5-9/10");
  REQUIRE(range);
  CHECK(range->first == 5);
  CHECK(range->last == 9);
  CHECK(range->total == 10);
  REQUIRE(parse_content_range("bytes 0-0/*"));
  CHECK_FALSE(parse_content_range("bytes 0-0/*")->total);
  for (const char* wrong : {"", "bytes", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "items 5-9/10",
                            "bytes */10", "bytes -5-9/10", "bytes 5-9/1O", "bytes 99999999999999999999-1/2"})
    CHECK_FALSE(parse_content_range(wrong));
}

TEST_CASE("Numbers are digits and nothing else") {
  CHECK(parse_number("0") == 0);
  CHECK(parse_number("18446744073709551615") == 18446744073709551615u);
  for (const char* wrong : {"", " 1", "1 ", "+1", "-1", "0x1", "1e3", "18446744073709551616"})
    CHECK_FALSE(parse_number(wrong));
}

TEST_CASE("How long a server asks to wait") {
  constexpr std::time_t kNow = 1764517800;  // Sun, 30 Nov 2025 15:50:00 GMT
  const auto wait = [&](std::initializer_list<const char*> lines) {
    return requested_wait(with(lines), kNow);
  };
  CHECK_FALSE(wait({}));
  CHECK(wait({"Retry-After: 7"}) == 7);
  CHECK(wait({"Retry-After: Sun, 30 Nov 2025 15:50:30 GMT"}) == 30);
  CHECK(wait({"Retry-After: Sun, 30 Nov 2025 15:00:00 GMT"}) == 0);
  CHECK_FALSE(wait({"Retry-After: soon"}));
  CHECK(wait({"RateLimit: \"api\";r=0;t=55", "Retry-After: 7"}) == 56);
  CHECK(wait({"RateLimit: \"api\";r=0", "Retry-After: 7"}) == 7);
  CHECK(wait({"Retry-After: 99999999999"}) == 3600);
  CHECK(wait({"RateLimit: t=18446744073709551615"}) == 3600);
}

TEST_CASE("Etags lose their quotes") {
  CHECK(plain_etag("\"abc\"") == "abc");
  CHECK(plain_etag("W/\"abc\"") == "abc");
  CHECK(plain_etag("abc") == "abc");
  CHECK(plain_etag("") == "");
}
