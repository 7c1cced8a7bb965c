#include "cache/http/backoff.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/progress.h"

using namespace hf::cache;
using std::chrono::milliseconds;

TEST_CASE("Waits double up to a limit and end") {
  Backoff backoff({6, milliseconds(100), milliseconds(400), std::chrono::seconds(60)}, 1);
  for (const int whole : {100, 200, 400, 400, 400}) {
    const auto wait = backoff.next(0, {});
    REQUIRE(wait);
    CHECK(wait->count() >= whole / 2);
    CHECK(wait->count() <= whole);
  }
  CHECK_FALSE(backoff.next(0, {}));
  backoff.reset();
  CHECK(backoff.next(0, {}));
}

TEST_CASE("A server's wish is followed as far as it is reasonable") {
  Backoff backoff({6, milliseconds(100), milliseconds(400), std::chrono::seconds(60)}, 1);
  const auto wait = backoff.next(429, 5);
  REQUIRE(wait);
  CHECK(wait->count() >= 5000);
  CHECK(wait->count() <= 5100);
  CHECK_FALSE(backoff.next(429, 61));
}

TEST_CASE("Many clients do not come back at once") {
  const RetryPolicy policy{6, milliseconds(1000), milliseconds(1000), std::chrono::seconds(60)};
  CHECK(Backoff(policy, 1).next(0, {}) != Backoff(policy, 2).next(0, {}));
}
