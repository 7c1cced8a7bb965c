#include "cache/mirror/hash_pool.h"

#include <system_error>
#include <utility>

namespace hf::cache {

HashPool::HashPool(unsigned most_threads) : most_threads_(most_threads) {}

HashPool::~HashPool() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    jobs_.clear();
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HashPool::submit(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (idle_ < jobs_.size() && threads_.size() < most_threads_) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system has no more threads for us: one is enough
      if (threads_.empty()) throw;
    }
  }
  ready_.notify_one();
}

void HashPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    ready_.wait(lock, [&] { return ended_ || !jobs_.empty(); });
    --idle_;
    if (ended_) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace hf::cache
