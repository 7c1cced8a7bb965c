#include "cache/http/window.h"

#include <algorithm>

namespace hf::cache {
namespace {

constexpr double kLeast = 4;                       // that lateness alone leaves
constexpr std::chrono::microseconds kNoise{1000};  // of our own loop and the server's
constexpr double kShrink = 0.25;                   // of the growth: some answers are late by themselves

constexpr double kStepTime = 10'000;  // microseconds of a round trip that are worth one exchange more

}  // namespace

Window::Window(std::size_t first, std::size_t most, bool by_delay)
    : size_(static_cast<double>(std::max<std::size_t>(std::min(first, most), 1))),
      most_(static_cast<double>(std::max<std::size_t>(most, 1))),
      by_delay_(by_delay) {}

void Window::completed(std::chrono::microseconds first_byte) {
  least_ = std::min(least_, first_byte);
  const bool late = by_delay_ && first_byte > 2 * least_ + kNoise;
  if (late) opening_ = false;
  const double step = growth(first_byte);
  if (!late)
    size_ = std::min(size_ + step, most_);
  else if (size_ > kLeast)
    size_ = std::max(size_ - kShrink * step, kLeast);
}

// Far servers need many exchanges at once and are found out about slowly: the longer a round trip, the larger
// the steps. Once the server has said that it is too much, one more each round trip.
double Window::growth(std::chrono::microseconds first_byte) const {
  if (epoch_ > 0) return 1 / size_;
  return opening_ ? 2 + static_cast<double>(first_byte.count()) / kStepTime : 1;
}

void Window::cap(std::size_t most) {
  most_ = std::min(most_, static_cast<double>(std::max<std::size_t>(most, 1)));
  size_ = std::min(size_, most_);
}

void Window::pushed_back(unsigned epoch) {
  if (epoch != epoch_) return;
  ++epoch_;
  opening_ = false;
  size_ = std::max(size_ / 2, 1.0);
}

}  // namespace hf::cache
