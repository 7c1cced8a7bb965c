#include "cache/http/window.h"

#include <algorithm>

namespace hf::cache {
namespace {

constexpr double kLeast = 4;                       // that lateness alone leaves
constexpr std::chrono::microseconds kNoise{1000};  // of our own loop and the server's
constexpr double kShrink = 0.25;                   // of the growth: some answers are late by themselves

}  // namespace

Window::Window(std::size_t first, std::size_t most, bool by_delay)
    : size_(static_cast<double>(std::max<std::size_t>(std::min(first, most), 1))),
      most_(static_cast<double>(std::max<std::size_t>(most, 1))),
      by_delay_(by_delay) {}

void Window::completed(std::chrono::microseconds first_byte) {
  least_ = std::min(least_, first_byte);
  const bool late = by_delay_ && first_byte > 2 * least_ + kNoise;
  if (late) opening_ = false;
  // Twice as many each round trip, until the server has said that it is too much.
  const double step = opening_ ? 2 : epoch_ == 0 ? 1 : 1 / size_;
  if (!late)
    size_ = std::min(size_ + step, most_);
  else if (size_ > kLeast)
    size_ = std::max(size_ - kShrink * step, kLeast);
}

void Window::pushed_back(unsigned epoch) {
  if (epoch != epoch_) return;
  ++epoch_;
  opening_ = false;
  size_ = std::max(size_ / 2, 1.0);
}

}  // namespace hf::cache
