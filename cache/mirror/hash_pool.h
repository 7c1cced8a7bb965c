// A few threads that hash what has arrived, so that the one that receives never waits for a hash. None is
// started before there is something to do.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hf::cache {

class HashPool {
 public:
  explicit HashPool(unsigned most_threads);
  ~HashPool();  // what has begun is finished, the rest is dropped
  HashPool(const HashPool&) = delete;
  HashPool& operator=(const HashPool&) = delete;

  void submit(std::function<void()> job);  // which does not throw

 private:
  void work();

  const unsigned most_threads_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  unsigned idle_ = 0;
  bool ended_ = false;
};

}  // namespace hf::cache
