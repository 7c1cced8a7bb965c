#include "cache/http/rate_limit.h"

#include <algorithm>

namespace hf::cache {
namespace {

// What was not used may be made up for later, so that a late wake-up costs nothing; more would be a burst.
constexpr std::chrono::milliseconds kCredit{50};
constexpr std::size_t kLeastBuffer = 1024;

}  // namespace

void RateLimit::took(std::size_t bytes, Clock::time_point now) {
  if (rate_ == 0) return;
  const std::chrono::duration<double> worth(static_cast<double>(bytes) / static_cast<double>(rate_));
  free_at_ = std::max(free_at_, now - kCredit) + std::chrono::duration_cast<Clock::duration>(worth);
}

std::size_t RateLimit::most_at_once(std::size_t otherwise) const {
  if (rate_ == 0) return otherwise;
  return std::clamp<std::size_t>(rate_ / 20, kLeastBuffer, otherwise);
}

}  // namespace hf::cache
