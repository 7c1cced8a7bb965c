#include "base/thread_pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/error_of.h"
#include "support/in_child.h"
#include "support/skip.h"

using namespace hf;
using hf::test::error_of;
using hf::test::in_child;
using hf::test::skip;

// There where the sanitizer's run-time library is linked.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

TEST_CASE("each index is worked on once, with any number of threads") {
  for (const std::size_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      std::vector<int> seen(count, 0);
      pool.for_each(count, [&](std::size_t i) { ++seen[i]; });
      CHECK(seen == std::vector<int>(count, 1));
    }
  }
  CHECK(ThreadPool(0).size() >= 1);
}

TEST_CASE("ranges cover everything once and are not shorter than the grain") {
  ThreadPool pool(4);
  for (const std::size_t count : {0, 1, 9, 10, 19, 20, 21, 1003}) {
    std::vector<int> seen(count, 0);
    std::atomic<int> calls{0};
    std::atomic<bool> long_enough{true};
    pool.for_ranges(count, 10, [&](std::size_t begin, std::size_t end) {
      ++calls;
      if (end - begin < std::min<std::size_t>(10, count)) long_enough = false;
      for (std::size_t i = begin; i < end; ++i) ++seen[i];
    });
    CHECK(seen == std::vector<int>(count, 1));
    CHECK(long_enough);
    CHECK(calls <= 4);
  }
  int calls = 0;
  pool.for_ranges(5, 0, [&](std::size_t, std::size_t) { __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED); });
  CHECK(calls == 4);
}

TEST_CASE("of several errors the first by index comes out, after the other work is done") {
  ThreadPool pool(4);
  std::atomic<int> done{0};
  const auto caught = error_of([&] {
    pool.for_each(100, [&](std::size_t i) {
      ++done;
      if (i % 10 == 7) throw Error(ErrorKind::io, "index " + std::to_string(i));
    });
  });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.message == "index 7");
  CHECK(done == 100);
}

TEST_CASE("an exception of another type comes out as it is") {
  ThreadPool pool(2);
  CHECK_THROWS_AS(pool.for_each(4, [](std::size_t) { throw std::out_of_range("x"); }), std::out_of_range);
  ThreadPool single(1);
  CHECK_THROWS_AS(single.for_ranges(4, 1, [](std::size_t, std::size_t) { throw std::out_of_range("x"); }),
                  std::out_of_range);
}

TEST_CASE("a pool works on after an error") {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    CHECK(error_of([&] { pool.for_each(9, [](std::size_t) { throw Error(ErrorKind::io, "x"); }); }) ==
          ErrorKind::io);
    std::atomic<int> sum{0};
    pool.for_each(9, [&](std::size_t i) { sum += static_cast<int>(i); });
    CHECK(sum == 36);
  }
}

TEST_CASE("the threads really work side by side") {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  pool.for_each(2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2)
      std::this_thread::yield();  // hangs, and the test times out, where one thread does both
  });
  CHECK(arrived == 2);
}

TEST_CASE("many short jobs in a row lose nothing") {
  ThreadPool pool(4);
  std::atomic<std::size_t> sum{0};
  for (int job = 0; job < 2000; ++job) pool.for_each(5, [&](std::size_t i) { sum += i; });
  CHECK(sum == 20'000);
}

TEST_CASE("a pool larger than the system allows has the threads that it got") {
  if (__asan_init != nullptr || __tsan_init != nullptr) return skip("the sanitizers need the address space");
  const auto crowd = [] {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (100u << 20);
    const rlimit limit{bytes, bytes};  // stacks take 8 MiB each
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
    ThreadPool pool(1000);
    std::atomic<int> done{0};
    pool.for_each(50, [&](std::size_t) { ++done; });
    return pool.size() < 1000 && done == 50 ? 0 : 1;
  };
  CHECK(in_child(crowd) == 0);
}
