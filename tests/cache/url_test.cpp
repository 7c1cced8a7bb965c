#include "cache/http/url.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("Origins are compared with their port and in lower case") {
  CHECK(origin_of("https://Hub.example/a?b") == "https://hub.example:443");
  CHECK(origin_of("HTTPS://hub.example:443/") == origin_of("https://HUB.example"));
  CHECK(origin_of("http://hub.example") != origin_of("https://hub.example"));
  CHECK(origin_of("http://hub.example:8080") != origin_of("http://hub.example"));
  CHECK(origin_of("http://[::1]:80/x") == "http://[::1]:80");
  CHECK(origin_of("https://hub.example@evil.example/") == "https://evil.example:443");
}

TEST_CASE("What is no web address has no origin") {
  for (const char* url :
       {"", "hub.example", "file:///etc/passwd", "ftp://hub.example", "https://", "https://a b/"})
    CHECK(error_of([&] { origin_of(url); }) == ErrorKind::network);
}

TEST_CASE("Redirects are resolved with their query") {
  const char* base = "https://hub.example/a/b?old=1";
  CHECK(resolve_url(base, "/api/x?etag=%22e%22&s=1") == "https://hub.example/api/x?etag=%22e%22&s=1");
  CHECK(resolve_url(base, "c?d=1") == "https://hub.example/a/c?d=1");
  CHECK(resolve_url(base, "//cdn.example/x?sig=a%2Fb") == "https://cdn.example/x?sig=a%2Fb");
  CHECK(resolve_url(base, "https://cdn.example/x#part") == "https://cdn.example/x");
  CHECK(resolve_url("http://hub.example/", "https://hub.example/") == "https://hub.example/");
}

TEST_CASE("A redirect from https to http is refused") {
  const Caught caught = error_of([] { resolve_url("https://hub.example/a", "http://hub.example/a"); });
  CHECK(caught == ErrorKind::network);
  CHECK(caught.says("from https to http"));
}

TEST_CASE("A redirect to another scheme is refused") {
  for (const char* to : {"file:///etc/passwd", "gopher://x/", "javascript:alert(1)", ""})
    CHECK(error_of([&] { resolve_url("https://hub.example/a", to); }).kind.has_value());
}

TEST_CASE("Revisions and paths are percent-encoded") {
  CHECK(percent_encoded("refs/pr/1", false) == "refs%2Fpr%2F1");
  CHECK(percent_encoded("a b/\xc3\xa9+%?#.json", true) == "a%20b/%C3%A9%2B%25%3F%23.json");
  CHECK(percent_encoded("az-AZ_09.~", false) == "az-AZ_09.~");
}

TEST_CASE("Signatures and passwords are not shown") {
  CHECK(shown_url("https://cdn.example/x?X-Amz-Signature=abc#d") == "https://cdn.example/x");
  CHECK(shown_url("https://user:secret@hub.example/x@y") == "https://hub.example/x@y");
  CHECK(shown_url("https://hub.example/\x1b[2J") == "https://hub.example/\\x1b[2J");
}
