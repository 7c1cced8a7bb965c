#include "cache/http/backoff.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/progress.h"

using namespace hf::cache;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Time = Backoff::Clock::time_point;

RetryPolicy policy() {
  return {.attempts = 6,
          .first_wait = milliseconds(100),
          .longest_wait = milliseconds(400),
          .longest_requested = seconds(60),
          .budget = seconds(10)};
}

}  // namespace

TEST_CASE("Waits double up to a limit and end") {
  Backoff backoff(policy(), 1);
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

TEST_CASE("A wait that 429 tells is followed, and is no attempt") {
  Backoff backoff(policy(), 1);
  for (int i = 0; i < 12; ++i) {
    const auto wait = backoff.next(429, 5);
    REQUIRE(wait);
    CHECK(*wait >= seconds(5));
    CHECK(*wait <= milliseconds(5100));
  }
  CHECK_FALSE(backoff.next(429, 5));  // a minute is over
  CHECK(backoff.next(500, {}));
}

TEST_CASE("A wait longer than a rate limit's window is not followed") {
  Backoff backoff(policy(), 1);
  CHECK_FALSE(backoff.next(429, 61));
  CHECK(backoff.next(429, 60));
  backoff.reset();
  CHECK(backoff.next(429, 60));
}

TEST_CASE("429 without a wait is an attempt like any other") {
  Backoff backoff(policy(), 1);
  for (int i = 0; i < 5; ++i) CHECK(backoff.next(429, i % 2 == 0 ? std::optional<unsigned>() : 0u));
  CHECK_FALSE(backoff.next(429, {}));
}

TEST_CASE("Time without progress has a budget, and waits of 429 are outside it") {
  const Time start{std::chrono::hours(1)};
  Backoff backoff(policy(), 1);
  CHECK(backoff.next(500, {}, start));
  CHECK(backoff.next(500, {}, start + seconds(9)));
  CHECK_FALSE(backoff.next(500, {}, start + seconds(11)));
  Backoff patient(policy(), 1);
  CHECK(patient.next(500, {}, start));
  CHECK(patient.next(429, 30, start + seconds(5)));
  CHECK(patient.next(500, {}, start + seconds(36)));
  CHECK_FALSE(patient.next(500, {}, start + seconds(42)));
}

TEST_CASE("A wait that 503 tells is followed within the budget") {
  Backoff backoff(policy(), 1);
  const auto wait = backoff.next(503, 5);
  REQUIRE(wait);
  CHECK(*wait >= seconds(5));
  CHECK_FALSE(backoff.next(503, 11));
}

TEST_CASE("The policy is the Hub's: eight attempts, two minutes, waits up to 330 s") {
  const RetryPolicy policy;
  CHECK(policy.attempts == 8);
  CHECK(policy.budget == seconds(120));
  CHECK(policy.longest_requested == seconds(330));
  milliseconds longest{0};
  Backoff backoff(policy, 1);
  const Time start{std::chrono::hours(1)};
  for (auto wait = backoff.next(0, {}, start); wait; wait = backoff.next(0, {}, start + longest))
    longest += *wait;
  CHECK(longest > seconds(15));
  CHECK(longest < seconds(60));
}

TEST_CASE("What a response says is what counts") {
  Response response;
  response.hops.push_back({"http://h/", 429, {}});
  response.hops.back().headers.add_line("Retry-After: 7");
  Backoff backoff(policy(), 1);
  CHECK(backoff.next(response) >= seconds(7));
  response.failure = "the connection broke";  // in the body of that answer
  CHECK(backoff.next(response) >= seconds(7));
}

TEST_CASE("Many clients do not come back at once") {
  CHECK(Backoff(policy(), 1).next(0, {}) != Backoff(policy(), 2).next(0, {}));
  CHECK(Backoff(policy(), 1).next(429, 5) != Backoff(policy(), 2).next(429, 5));
}
