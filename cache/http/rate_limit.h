// A limit in bytes a second: what was taken puts off when more may be taken.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hf::cache {

class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimit(std::uint64_t bytes_per_second) : rate_(bytes_per_second) {}  // 0: none

  bool is_on() const { return rate_ > 0; }
  void took(std::size_t bytes, Clock::time_point now);
  // When more may be taken; in the past: now.
  Clock::time_point free_at() const { return free_at_; }
  // How much to take at a time so that the pauses stay short.
  std::size_t most_at_once(std::size_t otherwise) const;

 private:
  std::uint64_t rate_;
  Clock::time_point free_at_{};
};

}  // namespace hf::cache
