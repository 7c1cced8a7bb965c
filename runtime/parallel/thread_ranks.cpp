#include "runtime/parallel/thread_ranks.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace hf::runtime {
namespace {

// What the ranks share. A call has three meetings: all have offered their bytes; all have made their part of
// the result; all have taken it.
class Group {
 public:
  explicit Group(int ranks) : offers_(static_cast<std::size_t>(ranks)) {}

  struct Offer {
    std::span<const std::byte> bytes;
    DType dtype = DType::u8;
    bool reduces = false;
  };

  std::size_t ranks() const { return offers_.size(); }
  const Offer& offer(std::size_t rank) const { return offers_[rank]; }

  // Waits until all ranks have come here.
  void meet() {
    std::unique_lock lock(mutex_);
    refuse_if_broken();
    if (++waiting_ + ended_ == ranks() && ended_ == 0) {
      waiting_ = 0;
      ++round_;
      met_.notify_all();
      return;
    }
    if (ended_ > 0) {
      break_with("a rank ended while others wait for it");
      refuse_if_broken();
    }
    const std::size_t round = round_;
    met_.wait(lock, [&] { return round_ != round || !broken_.empty(); });
    if (round_ == round) refuse_if_broken();
  }

  // Meets the others with an offer; returns when all are there and fit.
  void make(std::size_t rank, Offer offer) {
    offers_[rank] = offer;
    meet();
    for (const Offer& other : offers_)
      if (other.bytes.size() != offer.bytes.size() || other.dtype != offer.dtype ||
          other.reduces != offer.reduces)
        throw Error(ErrorKind::internal,
                    "the ranks' collective calls differ: " + std::to_string(offer.bytes.size()) + " and " +
                        std::to_string(other.bytes.size()) + " bytes");
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    if (waiting_ > 0) break_with("a rank ended while others wait for it");
  }

  void fail(std::size_t rank, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      failure_ = error;
      failed_rank_ = rank;
    }
    break_with("rank " + std::to_string(rank) + " failed");
  }

  void rethrow() const {
    if (failure_)
      with_context("rank " + std::to_string(failed_rank_), [&] { std::rethrow_exception(failure_); });
  }

  std::vector<std::byte> result;  // of a reduction, made in parts

 private:
  void refuse_if_broken() const {
    if (!broken_.empty()) throw Error(ErrorKind::internal, "collective call: " + broken_);
  }
  void break_with(std::string why) {
    if (broken_.empty()) broken_ = std::move(why);
    met_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable met_;
  std::size_t waiting_ = 0, ended_ = 0, round_ = 0;
  std::string broken_;  // why nobody is to wait any more
  std::exception_ptr failure_;
  std::size_t failed_rank_ = 0;
  std::vector<Offer> offers_;
};

template <class T>
void add(const std::byte* from, std::byte* to, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    T sum, x;
    std::memcpy(&sum, to + i * sizeof(T), sizeof(T));
    std::memcpy(&x, from + i * sizeof(T), sizeof(T));
    sum += x;
    std::memcpy(to + i * sizeof(T), &sum, sizeof(T));
  }
}

using Add = void (*)(const std::byte*, std::byte*, std::size_t, std::size_t);
Add adder(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return add<float>;
    case DType::f64:
      return add<double>;
    default:
      throw Error(ErrorKind::unsupported, "all-reduce: no sum over ranks of " + std::string(name_of(dtype)));
  }
}

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(Group& group, std::size_t rank) : group_(group), rank_(rank) {}
  int rank() const override { return static_cast<int>(rank_); }
  int ranks() const override { return static_cast<int>(group_.ranks()); }

  void all_reduce(std::span<std::byte> values, DType dtype) override {
    const Add add = adder(dtype);
    if (rank_ == 0) group_.result.resize(values.size());  // nobody reads it before the first meeting
    group_.make(rank_, {values, dtype, true});
    const std::size_t count = values.size() / size_of(dtype), ranks = group_.ranks();
    const std::size_t begin = count * rank_ / ranks, end = count * (rank_ + 1) / ranks;
    std::copy(group_.offer(0).bytes.begin() + static_cast<std::ptrdiff_t>(begin * size_of(dtype)),
              group_.offer(0).bytes.begin() + static_cast<std::ptrdiff_t>(end * size_of(dtype)),
              group_.result.begin() + static_cast<std::ptrdiff_t>(begin * size_of(dtype)));
    for (std::size_t r = 1; r < ranks; ++r)
      add(group_.offer(r).bytes.data(), group_.result.data(), begin, end);
    group_.meet();
    std::copy(group_.result.begin(), group_.result.end(), values.begin());
    group_.meet();
  }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (all.size() != mine.size() * group_.ranks())
      throw Error(ErrorKind::internal, "all-gather: " + std::to_string(all.size()) + " bytes for " +
                                           std::to_string(group_.ranks()) + " times " +
                                           std::to_string(mine.size()));
    group_.make(rank_, {mine, DType::u8, false});
    for (std::size_t r = 0; r < group_.ranks(); ++r)
      std::copy(group_.offer(r).bytes.begin(), group_.offer(r).bytes.end(),
                all.begin() + static_cast<std::ptrdiff_t>(r * mine.size()));
    group_.meet();
  }

 private:
  Group& group_;
  std::size_t rank_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& work) {
  if (ranks < 1) throw Error(ErrorKind::usage, "a parallel run needs a rank at least");
  Group group(ranks);
  const auto run = [&](std::size_t rank) {
    try {
      ThreadCommunicator communicator(group, rank);
      work(communicator);
      group.end();
    } catch (...) {
      group.fail(rank, std::current_exception());
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (std::size_t rank = 1; rank < static_cast<std::size_t>(ranks); ++rank)
      threads.emplace_back(run, rank);
    run(0);
  } catch (...) {  // the system gave fewer threads than asked: those that run are not to wait for the others
    group.fail(threads.size() + 1, std::current_exception());
  }
  threads.clear();  // joins
  group.rethrow();
}

}  // namespace hf::runtime
