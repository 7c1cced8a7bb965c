#include "runtime/parallel/thread_ranks.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/error_of.h"

using namespace hf;
using namespace hf::runtime;
using hf::test::error_of;

namespace {

std::span<std::byte> bytes_of(std::vector<float>& values) {
  return std::as_writable_bytes(std::span(values));
}

}  // namespace

TEST_CASE("all-reduce gives each rank the sum, in rank order") {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{1001}}) {
      std::vector<std::vector<float>> results(static_cast<std::size_t>(ranks));
      run_ranks(ranks, [&](Communicator& c) {
        CHECK(c.ranks() == ranks);
        std::vector<float>& mine = results[static_cast<std::size_t>(c.rank())];
        for (int round = 0; round < 20; ++round) {
          mine.assign(size, c.rank() == 0 ? 1e8f : 0.1f * static_cast<float>(c.rank()));
          c.all_reduce(bytes_of(mine), DType::f32);
        }
      });
      float sum = 1e8f;  // large first: another order would round otherwise
      for (int r = 1; r < ranks; ++r) sum += 0.1f * static_cast<float>(r);
      for (const std::vector<float>& mine : results) CHECK(mine == std::vector<float>(size, sum));
    }
  }
}

TEST_CASE("all-gather puts the ranks' bytes side by side") {
  run_ranks(3, [](Communicator& c) {
    const std::vector<float> mine(2, static_cast<float>(c.rank()));
    std::vector<float> all(6, -1);
    c.all_gather(std::as_bytes(std::span(mine)), bytes_of(all));
    const bool right = all == std::vector<float>{0, 0, 1, 1, 2, 2};
    CHECK(right);
  });
}

TEST_CASE("a rank that fails releases the others, and its error comes out") {
  for (const int failing : {0, 1, 2}) {
    std::atomic<int> released{0};
    const auto caught = error_of([&] {
      run_ranks(3, [&](Communicator& c) {
        if (c.rank() == failing) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the others wait by then
          throw Error(ErrorKind::out_of_memory, "no room");
        }
        std::vector<float> x(4, 1);
        try {
          c.all_reduce(bytes_of(x), DType::f32);
        } catch (const Error&) {
          ++released;
          throw;
        }
      });
    });
    CHECK(caught == ErrorKind::out_of_memory);
    CHECK(caught.message == "rank " + std::to_string(failing) + ": no room");
    CHECK(released == 2);
  }
}

TEST_CASE("a rank that fails between two calls releases the others") {
  const auto caught = error_of([&] {
    run_ranks(2, [&](Communicator& c) {
      std::vector<float> x(4, 1);
      for (int i = 0;; ++i) {
        if (c.rank() == 1 && i == 3) throw Error(ErrorKind::usage, "enough");
        c.all_reduce(bytes_of(x), DType::f32);
      }
    });
  });
  CHECK(caught.message == "rank 1: enough");
}

TEST_CASE("a rank that ends while others wait for it is an error, not a hang") {
  const auto caught = error_of([&] {
    run_ranks(3, [&](Communicator& c) {
      std::vector<float> x(4, 1);
      if (c.rank() != 1) c.all_reduce(bytes_of(x), DType::f32);
    });
  });
  CHECK(caught == ErrorKind::internal);
  CHECK(caught.says("ended while others wait"));
}

TEST_CASE("calls that do not fit each other are refused on every rank") {
  std::atomic<int> refused{0};
  const auto run = [&](auto&& call) {
    refused = 0;
    const auto caught = error_of([&] {
      run_ranks(3, [&](Communicator& c) {
        try {
          call(c);
        } catch (const Error&) {
          ++refused;
          throw;
        }
      });
    });
    CHECK(caught == ErrorKind::internal);
    CHECK(refused == 3);
  };
  run([](Communicator& c) {
    std::vector<float> x(c.rank() == 2 ? 5 : 4, 1);
    c.all_reduce(bytes_of(x), DType::f32);
  });
  run([](Communicator& c) {
    std::vector<float> x(4, 1), all(12);
    if (c.rank() == 0)
      c.all_gather(std::as_bytes(std::span(x)), bytes_of(all));
    else
      c.all_reduce(bytes_of(x), DType::f32);
  });
}

TEST_CASE("an exception that is no Error comes out as it is") {
  CHECK_THROWS_AS(run_ranks(2,
                            [](Communicator& c) {
                              if (c.rank() == 1) throw std::logic_error("bug");
                              std::vector<float> x(1);
                              c.all_reduce(bytes_of(x), DType::f32);
                            }),
                  std::logic_error);
}

TEST_CASE("no rank at all, and sums of what has none, are refused") {
  CHECK(error_of([] { run_ranks(0, [](Communicator&) {}); }) == ErrorKind::usage);
  std::byte flag[1] = {};
  CHECK(error_of([&] { run_ranks(1, [&](Communicator& c) { c.all_reduce(flag, DType::boolean); }); }) ==
        ErrorKind::unsupported);
}
