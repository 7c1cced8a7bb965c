#include "cache/http/lanes.h"

#include <doctest/doctest.h>

#include "cache/http/exchange.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

class Nobody : public Receiver {
 public:
  void start(const Response&) override {}
  void write(std::span<const std::byte>) override {}
  void done(Response, std::exception_ptr) override {}
};

}  // namespace

TEST_CASE("One origin, however it is spelled") {
  const ClientOptions options;
  Origins origins(options);
  Origin& origin = origins.of("https://Host/a?x");
  CHECK(&origins.of("https://host:443/b") == &origin);
  CHECK(&origins.of("HTTPS://host#f") == &origin);
  CHECK(&origins.of("https://user:pw@host/c") == &origin);
  CHECK(&origins.of("http://host/a") != &origin);
  CHECK(&origins.of("https://host:444/a") != &origin);
  CHECK(&origins.of("https://host.example/") != &origin);
  CHECK(origins.all().size() == 4);
  CHECK(error_of([&] { origins.of("ftp://host/"); }) == ErrorKind::network);
}

TEST_CASE("Without encryption each exchange has a connection of its own") {
  const ClientOptions options;
  Origin origin("http://host:80", options);
  CHECK_FALSE(origin.lane(false).shared);
  CHECK(&origin.lane(false) == &origin.lane(true));
  CHECK(origin.window() == 8);
  CHECK(origin.limit(origin.lane(false)) == 8);
}

TEST_CASE("One exchange finds out whether connections can be shared") {
  const ClientOptions options;
  Origin origin("https://host:443", options);
  CHECK(origin.lane(false).shared);
  CHECK_FALSE(origin.lane(true).shared);
  CHECK(origin.limit(origin.lane(false)) == 1);
  CHECK(origin.limit(origin.lane(true)) == 8);
  CHECK(origin.window() == 8);
  origin.saw_version(true);
  CHECK(origin.limit(origin.lane(false)) == 100);
  CHECK(origin.window() == 100);
}

TEST_CASE("Where they cannot be shared, those who wait get their own") {
  const ClientOptions options;
  Traffic traffic(0);
  Nobody nobody;
  Exchange first(1, {.url = "https://host/"}, nobody, traffic),
      second(2, {.url = "https://host/"}, nobody, traffic);
  Origin origin("https://host:443", options);
  origin.lane(false).queue = {&first, &second};
  origin.saw_version(false);
  CHECK_FALSE(origin.lane(false).shared);
  CHECK(origin.lane(false).queue == std::deque<Exchange*>{&first, &second});
  CHECK(origin.shared_lane().queue.empty());
  origin.forget(first);
  CHECK(origin.lane(false).queue == std::deque<Exchange*>{&second});
}

TEST_CASE("HTTP/2 that fails again and again is given up") {
  const ClientOptions options;
  Origin origin("https://host:443", options);
  origin.saw_version(true);
  origin.saw_http2_failure();
  origin.saw_http2_failure();
  origin.saw_version(true);  // it works after all
  for (int i = 0; i < 2; ++i) origin.saw_http2_failure();
  CHECK(origin.lane(false).shared);
  origin.saw_http2_failure();
  CHECK_FALSE(origin.lane(false).shared);
}

TEST_CASE("What the options allow is the most") {
  ClientOptions options;
  options.most_connections = 3;
  options.most_streams = 5;
  Origin origin("https://host:443", options);
  CHECK(origin.window() == 3);
  origin.saw_version(true);
  CHECK(origin.window() == 5);
}
