// How long to wait before trying again, and when to give up.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace hf::cache {

struct RetryPolicy {
  unsigned attempts = 6;                      // in a row without progress
  std::chrono::milliseconds first_wait{500};  // doubles each time
  std::chrono::milliseconds longest_wait{8000};
  std::chrono::seconds longest_requested{320};  // a server's own wish is followed up to a rate-limit window
};

class Backoff {
 public:
  explicit Backoff(const RetryPolicy& policy, std::uint64_t seed = std::random_device()());

  // The wait before the next attempt: between half and all of the doubled time, or what the server asked for
  // plus some jitter, so that many clients do not come back at once. Nothing when it is time to give up.
  std::optional<std::chrono::milliseconds> next(std::optional<unsigned> requested_seconds);
  void reset() { failures_ = 0; }  // there was progress

 private:
  RetryPolicy policy_;
  std::mt19937_64 random_;
  unsigned failures_ = 0;
};

// Sleeps, but ends at once with Error{interrupted} when the user stops the program.
void wait_for(std::chrono::milliseconds time);

}  // namespace hf::cache
