// Threads that sleep when there is nothing to do: spinning barriers collapse on a loaded machine.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace hf {

class ThreadPool {
 public:
  // The caller counts as one of them; 0 means one a core. Fewer where the system refuses more.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const;

  // Calls work(i) for each i in [0, count), spread over the threads, and returns when all are done. The first
  // Error (by index) is rethrown after the others have finished. Not to be called from inside `work`.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work);

  // Splits [0, count) into one contiguous range a thread, none shorter than `grain`: work(begin, end).
  void for_ranges(std::size_t count, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hf
