#include "cache/http/backoff.h"

#include <algorithm>
#include <thread>

#include "base/progress.h"

namespace hf::cache {

using std::chrono::milliseconds;

Backoff::Backoff(const RetryPolicy& policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

std::optional<milliseconds> Backoff::next(std::optional<unsigned> requested_seconds) {
  if (++failures_ >= policy_.attempts) return std::nullopt;
  const auto jitter = [&](milliseconds up_to) {
    return milliseconds(std::uniform_int_distribution<std::int64_t>(0, up_to.count())(random_));
  };
  if (requested_seconds) {
    const std::chrono::seconds wish(*requested_seconds);
    if (wish > policy_.longest_requested) return std::nullopt;
    return milliseconds(wish) + jitter(policy_.first_wait);
  }
  const milliseconds doubled = policy_.first_wait * (1LL << std::min(failures_ - 1, 20u));
  const milliseconds whole = std::min(doubled, policy_.longest_wait);
  return whole / 2 + jitter(whole / 2);
}

void wait_for(milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  for (auto left = time; left.count() > 0;
       left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now())) {
    check_interrupted();
    std::this_thread::sleep_for(std::min(left, milliseconds(50)));
  }
  check_interrupted();
}

}  // namespace hf::cache
