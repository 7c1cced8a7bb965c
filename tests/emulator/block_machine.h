// Runs the threads of one CUDA block at a time on one CPU thread, and watches what they do.
//
// Each thread runs until it must wait: at a barrier for the block, at a shuffle for its warp. Which of the
// ready threads runs next is drawn from a seed. These are found, and end the launch with an Error:
//   - a barrier that part of the block does not reach, or reaches at another place
//   - a shuffle that part of the named lanes does not reach
//   - shared memory read before it was written, indexed outside, or raced for: two threads, at least one of
//   them
//     writing, with no barrier (or, within a warp, no shuffle) between. The order of threads does not matter.
// What it cannot show: races through global memory, memory ordering, and anything that depends on time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulator/fiber.h"

namespace hf::emulator {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr unsigned kWarp = 32;

// What the threads of one warp hand each other at a shuffle.
struct Exchanged {
  std::uint64_t bits = 0;
};

struct Thread {
  enum State { waiting_to_start, ready, at_barrier, at_shuffle, done } state = waiting_to_start;
  unsigned rank = 0;  // within the block
  unsigned mask = 0;  // the lanes that its shuffle names
  unsigned shuffles = 0;
  std::source_location where;
  Exchanged given;
  Fiber* fiber = nullptr;
};

// Who touched one element of shared memory last, and when: `barriers` and `shuffles` count what the block and
// the thread had passed by then.
struct Touch {
  int thread = -1;
  unsigned barriers = 0, shuffles = 0;
};
struct Cell {
  Touch written, read, read_by_another;  // the last two by different threads
};

struct SharedArray {
  std::vector<std::byte> bytes;
  std::vector<Cell> cells;
};

class BlockMachine {
 public:
  static BlockMachine*& running() {
    static thread_local BlockMachine* machine = nullptr;
    return machine;
  }

  BlockMachine(unsigned threads, std::uint64_t seed, std::function<void()> kernel)
      : kernel_(std::move(kernel)), threads_(threads), random_(seed) {}

  // Runs all threads to their end; throws Error or what a thread threw.
  void run_block() {
    shared_.clear();
    barriers_ = 0;
    start_order_.clear();
    for (unsigned i = 0; i < threads_.size(); ++i) {
      threads_[i] = Thread{};
      threads_[i].rank = i;
      start_order_.push_back(i);
    }
    shuffle(start_order_);
    try {
      while (!start_order_.empty()) enter(idle_fiber());
      while (release()) run_ready();
    } catch (...) {
      fibers_.clear();  // those that wait never go on
      idle_.clear();
      throw;
    }
  }

  Thread& current() { return *current_; }
  unsigned thread_count() const { return static_cast<unsigned>(threads_.size()); }

  void wait_at_barrier(std::source_location where) { wait(Thread::at_barrier, 0, where); }

  // Gives `bits` to the warp and gets what lane `source(lane)` gave.
  template <class Source>
  std::uint64_t exchange(unsigned mask, std::uint64_t bits, std::source_location where, Source source) {
    Thread& self = *current_;
    const unsigned lane = self.rank % kWarp, first = self.rank - lane;
    if ((mask >> lane & 1u) == 0)
      throw Error(at(self, where) + "a shuffle whose mask lacks the calling lane");
    self.given.bits = bits;
    wait(Thread::at_shuffle, mask, where);
    const unsigned from = source(lane);
    if (from >= kWarp || (mask >> from & 1u) == 0)
      throw Error(at(self, where) + "a shuffle from lane " + std::to_string(from) + ", which its mask lacks");
    return exchanged_[first + from].bits;
  }

  // The block's array for one declaration; all threads get the same.
  SharedArray& shared(const void* declaration, std::size_t count, std::size_t element_bytes) {
    SharedArray& array = shared_[declaration];
    if (array.cells.empty()) {
      array.bytes.assign(count * element_bytes + 16, std::byte{0xcd});
      array.cells.resize(count);
    }
    return array;
  }

  void check_read(Cell& cell, std::size_t index) {
    if (cell.written.thread < 0) fail("reads", index, "before any thread of the block wrote it");
    if (unordered(cell.written)) fail_race("reads", index, "wrote", cell.written);
    const Touch now = touch();
    if (cell.read.thread != now.thread) cell.read_by_another = cell.read;
    cell.read = now;
  }
  void check_write(Cell& cell, std::size_t index) {
    if (unordered(cell.written)) fail_race("writes", index, "wrote", cell.written);
    if (unordered(cell.read)) fail_race("writes", index, "read", cell.read);
    if (unordered(cell.read_by_another)) fail_race("writes", index, "read", cell.read_by_another);
    cell.written = touch();
  }

 private:
  static std::string at(const Thread& thread, const std::source_location& where) {
    const std::string path = where.file_name();
    return path.substr(path.rfind('/') + 1) + ":" + std::to_string(where.line()) + ": thread " +
           std::to_string(thread.rank) + ": ";
  }
  [[noreturn]] void fail(const char* verb, std::size_t index, const std::string& what) const {
    throw Error("thread " + std::to_string(current_->rank) + " " + verb + " shared element " +
                std::to_string(index) + " " + what);
  }
  [[noreturn]] void fail_race(const char* verb, std::size_t index, const char* before,
                              const Touch& other) const {
    fail(verb, index,
         "that thread " + std::to_string(other.thread) + " " + before + ", with no barrier between");
  }

  Touch touch() const { return {static_cast<int>(current_->rank), barriers_, current_->shuffles}; }
  bool unordered(const Touch& earlier) const {
    const Touch now = touch();
    if (earlier.thread < 0 || earlier.thread == now.thread || earlier.barriers != now.barriers) return false;
    return earlier.thread / kWarp != now.thread / kWarp || earlier.shuffles >= now.shuffles;
  }

  template <class T>
  void shuffle(std::vector<T>& order) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
  }

  void wait(Thread::State state, unsigned mask, std::source_location where) {
    Thread& self = *current_;
    self.state = state;
    self.mask = mask;
    self.where = where;
    self.fiber->leave();
  }

  Fiber& idle_fiber() {
    if (idle_.empty()) {
      fibers_.push_back(std::make_unique<Fiber>(&BlockMachine::fiber_body, this));
      return *fibers_.back();
    }
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return *fiber;
  }

  void enter(Fiber& fiber) {
    entered_ = &fiber;
    fiber.enter();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  // A fiber takes one thread after the other, so that threads that never wait share one.
  static void fiber_body(void* machine_of_all) {
    auto& machine = *static_cast<BlockMachine*>(machine_of_all);
    Fiber& self = *machine.entered_;
    for (;;) {
      while (!machine.start_order_.empty() && !machine.failure_) {
        Thread& thread = machine.threads_[machine.start_order_.back()];
        machine.start_order_.pop_back();
        thread.fiber = &self;
        machine.current_ = &thread;
        machine.run_thread();
        thread.state = Thread::done;
      }
      machine.idle_.push_back(&self);
      self.leave();
    }
  }
  void run_thread() {
    try {
      kernel_();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void run_ready() {
    std::vector<unsigned> order;
    for (const Thread& thread : threads_)
      if (thread.state == Thread::ready) order.push_back(thread.rank);
    shuffle(order);
    for (const unsigned i : order) {
      current_ = &threads_[i];
      enter(*threads_[i].fiber);
    }
  }

  // Lets those go on that have met; false once all are done.
  bool release() {
    const auto is = [](Thread::State state) { return [state](const Thread& t) { return t.state == state; }; };
    if (std::all_of(threads_.begin(), threads_.end(), is(Thread::done))) return false;
    bool released = false;
    for (unsigned first = 0; first < threads_.size(); first += kWarp) released |= release_warp(first);
    if (released) return true;
    if (!std::all_of(threads_.begin(), threads_.end(), is(Thread::at_barrier))) fail_deadlock();
    const Thread& one = threads_.front();
    for (Thread& thread : threads_) {
      if (thread.where.line() != one.where.line() ||
          std::strcmp(thread.where.file_name(), one.where.file_name()) != 0)
        throw Error(at(one, one.where) + "waits at a barrier while another waits at " +
                    at(thread, thread.where));
      thread.state = Thread::ready;
    }
    ++barriers_;
    return true;
  }

  bool release_warp(unsigned first) {
    const unsigned lanes = std::min<unsigned>(kWarp, thread_count() - first);
    unsigned released = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const Thread& asking = threads_[first + lane];
      if (asking.state != Thread::at_shuffle || (released >> lane & 1u) != 0) continue;
      if (!all_there(asking, first, lanes)) continue;
      released |= asking.mask;
    }
    exchanged_.resize(threads_.size());
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if ((released >> lane & 1u) == 0) continue;
      Thread& thread = threads_[first + lane];
      exchanged_[first + lane] = thread.given;
      ++thread.shuffles;
      thread.state = Thread::ready;
    }
    return released != 0;
  }
  bool all_there(const Thread& asking, unsigned first, unsigned lanes) const {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((asking.mask >> lane & 1u) == 0) continue;
      if (lane >= lanes)
        throw Error(at(asking, asking.where) + "a shuffle that names a lane the block lacks");
      const Thread& other = threads_[first + lane];
      if (other.state != Thread::at_shuffle || other.mask != asking.mask) return false;
    }
    return true;
  }

  [[noreturn]] void fail_deadlock() const {
    for (const Thread& stuck : threads_) {
      if (stuck.state == Thread::done) continue;
      const auto ended = std::count_if(threads_.begin(), threads_.end(),
                                       [](const Thread& t) { return t.state == Thread::done; });
      throw Error(at(stuck, stuck.where) + "waits at a " +
                  (stuck.state == Thread::at_barrier ? "barrier" : "shuffle") + " that not all will reach; " +
                  std::to_string(ended) + " of " + std::to_string(threads_.size()) + " threads have ended");
    }
    throw Error("deadlock");  // not reached: somebody waits
  }

  std::function<void()> kernel_;
  std::vector<Thread> threads_;
  std::mt19937_64 random_;
  std::vector<unsigned> start_order_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::map<const void*, SharedArray> shared_;
  std::vector<Exchanged> exchanged_;
  Thread* current_ = nullptr;
  Fiber* entered_ = nullptr;
  std::exception_ptr failure_;
  unsigned barriers_ = 0;
};

}  // namespace hf::emulator
