#include "cache/http/rate_limit.h"

#include <doctest/doctest.h>

using namespace hf::cache;
using std::chrono::milliseconds;

namespace {

// How long `bytes` in pieces take of one who looks away as told, and is `late` each time.
double seconds_for(std::uint64_t rate, std::uint64_t bytes, std::size_t piece, milliseconds late) {
  RateLimit limit(rate);
  const RateLimit::Clock::time_point start{std::chrono::hours(1)};
  auto now = start;
  for (std::uint64_t done = 0; done < bytes; done += piece) {
    now = std::max(now, limit.free_at()) + late;
    limit.took(piece, now);
  }
  return std::chrono::duration<double>(std::max(now, limit.free_at()) - start).count();
}

}  // namespace

TEST_CASE("A rate is kept whatever the pieces are") {
  for (const std::size_t piece : {1000u, 16384u, 262144u}) {
    CAPTURE(piece);
    CHECK(seconds_for(1'000'000, 4'000'000, piece, milliseconds(0)) == doctest::Approx(4).epsilon(0.03));
  }
}

TEST_CASE("Waking up late does not slow a rate down") {
  CHECK(seconds_for(1'000'000, 4'000'000, 16384, milliseconds(5)) == doctest::Approx(4).epsilon(0.03));
}

TEST_CASE("An idle time is not made up for by a burst") {
  RateLimit limit(1000);
  const RateLimit::Clock::time_point later{std::chrono::hours(1)};
  limit.took(1000, later);
  CHECK(limit.free_at() >= later + milliseconds(900));
}

TEST_CASE("Pieces are small where the rate is") {
  CHECK(RateLimit(0).most_at_once(65536) == 65536);
  CHECK(RateLimit(20'000).most_at_once(65536) == 1024);
  CHECK(RateLimit(1'000'000).most_at_once(65536) == 50'000);
  CHECK(RateLimit(100'000'000).most_at_once(65536) == 65536);
}

TEST_CASE("No limit never looks away") {
  RateLimit limit(0);
  limit.took(std::size_t{1} << 40, RateLimit::Clock::now());
  CHECK(limit.free_at() == RateLimit::Clock::time_point{});
}
