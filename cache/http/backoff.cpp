#include "cache/http/backoff.h"

#include <algorithm>

namespace hf::cache {

using std::chrono::milliseconds;

Backoff::Backoff(const RetryPolicy& policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

void Backoff::reset() {
  failures_ = 0;
  told_ = milliseconds(0);
  since_.reset();
}

milliseconds Backoff::jitter(milliseconds up_to) {
  return milliseconds(std::uniform_int_distribution<std::int64_t>(0, up_to.count())(random_));
}

std::optional<milliseconds> Backoff::next(int status, std::optional<unsigned> requested_seconds,
                                          Clock::time_point now) {
  const milliseconds wish = std::chrono::seconds(requested_seconds.value_or(0));
  if (status == 429 && wish.count() > 0) {
    if (told_ + wish > policy_.longest_requested) return std::nullopt;
    const milliseconds wait = wish + jitter(policy_.first_wait);
    told_ += wish;
    if (since_) *since_ += wait;  // outside the budget
    return wait;
  }
  if (!since_) since_ = now;
  if (++failures_ >= policy_.attempts) return std::nullopt;
  const milliseconds doubled = policy_.first_wait * (1LL << std::min(failures_ - 1, 20u));
  const milliseconds whole = std::min(doubled, policy_.longest_wait);
  const milliseconds wait =
      wish.count() > 0 ? wish + jitter(policy_.first_wait) : whole / 2 + jitter(whole / 2);
  if (now + wait - *since_ > policy_.budget) return std::nullopt;
  return wait;
}

}  // namespace hf::cache
