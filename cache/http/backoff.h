// How long to wait before trying again, and when to give up.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

#include "cache/http/message.h"

namespace hf::cache {

struct RetryPolicy {
  unsigned attempts = 8;                      // in a row without progress
  std::chrono::milliseconds first_wait{500};  // doubles each time
  std::chrono::milliseconds longest_wait{16'000};
  // The waits that a server told with 429 may add up to so much without progress: a rate-limit window. They
  // count neither as attempts nor into the budget.
  std::chrono::milliseconds longest_requested{330'000};
  std::chrono::milliseconds budget{120'000};  // without progress
};

class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Backoff(const RetryPolicy& policy, std::uint64_t seed = std::random_device()());

  // The wait before the next attempt after one that ended with HTTP `status` (0: the transfer broke):
  // between half and all of the doubled time, or what the server asked for plus some jitter, so that many
  // clients do not come back at once. Nothing when it is time to give up.
  std::optional<std::chrono::milliseconds> next(int status, std::optional<unsigned> requested_seconds,
                                                Clock::time_point now = Clock::now());
  std::optional<std::chrono::milliseconds> next(const Response& response) {
    return next(response.failure.empty() ? response.status() : 0, response.requested_wait());
  }
  void reset();  // there was progress

 private:
  std::chrono::milliseconds jitter(std::chrono::milliseconds up_to);

  RetryPolicy policy_;
  std::mt19937_64 random_;
  unsigned failures_ = 0;
  std::chrono::milliseconds told_{0};       // waits of 429 since the last progress
  std::optional<Clock::time_point> since_;  // the first failure after the last progress
};

}  // namespace hf::cache
