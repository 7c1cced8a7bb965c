#include "base/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace hf {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(std::size_t)>* work = nullptr;
  std::size_t count = 0, next = 0, running = 0;
  std::uint64_t job = 0;
  std::size_t failed_at = 0;
  std::exception_ptr failure;
  bool stop = false;
  std::vector<std::thread> threads;

  // Takes indices of the current job until none is left. Called with the lock held.
  void take(std::unique_lock<std::mutex>& lock) {
    while (next < count) {
      const std::size_t i = next++;
      const auto* f = work;
      ++running;
      lock.unlock();
      std::exception_ptr error;
      try {
        (*f)(i);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      --running;
      if (error && (!failure || i < failed_at)) {
        failure = error;
        failed_at = i;
      }
    }
    if (running == 0) done.notify_all();
  }

  void loop() {
    std::unique_lock lock(mutex);
    for (std::uint64_t seen = 0;;) {
      wake.wait(lock, [&] { return stop || job != seen; });
      if (stop) return;
      seen = job;
      take(lock);
    }
  }
};

ThreadPool::ThreadPool(std::size_t threads) : state_(std::make_unique<State>()) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  try {
    for (std::size_t i = 1; i < threads; ++i) state_->threads.emplace_back([s = state_.get()] { s->loop(); });
  } catch (const std::system_error&) {  // the limit on threads: those that there are do the work
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

std::size_t ThreadPool::size() const { return state_->threads.size() + 1; }

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::unique_lock lock(state_->mutex);
  state_->work = &work;
  state_->count = count;
  state_->next = 0;
  state_->failure = nullptr;
  ++state_->job;
  if (count > 1) state_->wake.notify_all();
  state_->take(lock);
  state_->done.wait(lock, [&] { return state_->running == 0 && state_->next >= state_->count; });
  if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
}

void ThreadPool::for_ranges(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t pieces =
      std::max<std::size_t>(1, std::min(size(), count / std::max<std::size_t>(1, grain)));
  if (pieces == 1) {
    if (count > 0) work(0, count);
    return;
  }
  for_each(pieces, [&](std::size_t i) { work(count * i / pieces, count * (i + 1) / pieces); });
}

}  // namespace hf
