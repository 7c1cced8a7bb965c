// A limit in bytes a second, kept by looking away: what came too early puts off the next look at the network.
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
  // When the network may be read again; in the past: now.
  Clock::time_point free_at() const { return free_at_; }
  // How much may be taken at a time so that a look away stays short.
  std::size_t most_at_once(std::size_t otherwise) const;

 private:
  std::uint64_t rate_;
  Clock::time_point free_at_{};
};

}  // namespace hf::cache
