// The emulator itself: that it runs kernels as CUDA would, and finds what is wrong with wrong ones.
#include <doctest/doctest.h>

#include <set>

#include "emulator/cuda_emulator.h"
#include "runtime/cuda/block.cuh"
#include "runtime/cuda/walk.cuh"

using namespace hf;
using namespace hf::runtime::cuda;

namespace {

// What a launch of `threads` threads in one block ends with; "" where it ends well.
template <class... P>
std::string failure(unsigned threads, void (*kernel)(P...), std::type_identity_t<P>... arguments) {
  try {
    launch({1, threads, 256}, nullptr, kernel, arguments...);
  } catch (const emulator::Error& error) {
    return error.what();
  }
  return "";
}
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

HF_KERNEL void rank_kernel(int* seen, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) seen[i] += 1;
}

HF_KERNEL void reverse_kernel(const int* x, int* y, bool with_barrier) {
  HF_SHARED(int, tile, 64);
  tile[threadIdx.x] = x[threadIdx.x];
  if (with_barrier) __syncthreads();
  y[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

HF_KERNEL void overwrite_kernel(int* y) {  // the second write may come before another thread's read
  HF_SHARED(int, cell, 1);
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) cell[0] = round;
    __syncthreads();
    y[threadIdx.x] = cell[0];
  }
}

HF_KERNEL void warp_handover_kernel(int* y, bool with_sync) {
  HF_SHARED(int, tile, 32);
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (with_sync) __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x];
}

HF_KERNEL void early_return_kernel() {
  if (threadIdx.x == 5) return;
  __syncthreads();
}

HF_KERNEL void two_places_kernel() {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
}

HF_KERNEL void half_warp_kernel(int* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_xor_sync(kWholeWarp, 1, 1);
}

HF_KERNEL void unwritten_kernel(int* y) {
  HF_SHARED(int, tile, 4);
  y[threadIdx.x] = tile[threadIdx.x % 4];
}

HF_KERNEL void outside_kernel() {
  HF_SHARED(int, tile, 4);
  tile[threadIdx.x] = 1;
}

HF_KERNEL void dynamic_kernel(int* y) {
  HF_DYNAMIC_SHARED(int, tile);
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x ^ 1u];
}

HF_KERNEL void order_kernel(int* next, int* order) {
  order[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x);
}

HF_KERNEL void shuffle_kernel(std::int64_t* y) {
  const std::int64_t lane = threadIdx.x % 32;
  y[threadIdx.x] = __shfl_up_sync(kWholeWarp, lane, 3) * 10000 + __shfl_down_sync(kWholeWarp, lane, 5) * 100 +
                   __shfl_xor_sync(kWholeWarp, lane, 9);
}

HF_KERNEL void sum_kernel(std::int64_t* y) {
  const std::int64_t mine = threadIdx.x;
  y[threadIdx.x] = block_reduced(mine, std::int64_t{0}, Sum{});
}

}  // namespace

TEST_CASE("every element of a grid-wide loop is visited once") {
  for (const std::int64_t count : {1, 255, 257, 1000}) {
    std::vector<int> seen(static_cast<std::size_t>(count));
    launch({3, 64}, nullptr, rank_kernel, seen.data(), count);
    CHECK(seen == std::vector<int>(seen.size(), 1));
  }
}

TEST_CASE("threads meet at a barrier, whatever their order") {
  std::vector<int> x(64), y(64);
  for (int i = 0; i < 64; ++i) x[static_cast<std::size_t>(i)] = i;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    emulator::seed(seed);
    CHECK(failure(64, reverse_kernel, x.data(), y.data(), true).empty());
    CHECK(std::equal(x.begin(), x.end(), y.rbegin()));
  }
}

TEST_CASE("a missing barrier between write and read is found under every seed") {
  std::vector<int> x(64), y(64);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    emulator::seed(seed);
    const std::string found = failure(64, reverse_kernel, x.data(), y.data(), false);
    CHECK_MESSAGE((says(found, "with no barrier between") || says(found, "before any thread")), found);
  }
}

TEST_CASE("a missing barrier between read and next write is found under every seed") {
  std::vector<int> y(64);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    emulator::seed(seed);
    CHECK(says(failure(64, overwrite_kernel, y.data()), "with no barrier between"));
  }
}

TEST_CASE("within a warp __syncwarp orders shared memory and nothing less does") {
  std::vector<int> y(32);
  CHECK(failure(32, warp_handover_kernel, y.data(), true).empty());
  CHECK(y[0] == 31);
  CHECK_FALSE(failure(32, warp_handover_kernel, y.data(), false).empty());
}

TEST_CASE("a barrier that a returned thread misses is a deadlock") {
  const std::string found = failure(64, early_return_kernel);
  CHECK_MESSAGE(says(found, "waits at a barrier that not all will reach; 1 of 64"), found);
}

TEST_CASE("a barrier in both branches of a condition is not one barrier") {
  CHECK(says(failure(64, two_places_kernel), "waits at a barrier while another waits at"));
}

TEST_CASE("a shuffle that half of its lanes miss is a deadlock") {
  std::vector<int> y(32);
  CHECK(says(failure(32, half_warp_kernel, y.data()), "waits at a shuffle that not all will reach"));
}

TEST_CASE("a shuffle in a block that is no multiple of a warp names lanes that lack") {
  std::vector<std::int64_t> y(40);
  CHECK(says(failure(40, shuffle_kernel, y.data()), "names a lane the block lacks"));
}

TEST_CASE("shared memory that nobody wrote is not read") {
  std::vector<int> y(32);
  CHECK(says(failure(32, unwritten_kernel, y.data()), "before any thread of the block wrote it"));
}

TEST_CASE("an index outside a shared array is found") { CHECK(says(failure(32, outside_kernel), "of 4")); }

TEST_CASE("dynamic shared memory is as long as the launch says") {
  std::vector<int> y(64);
  CHECK(failure(64, dynamic_kernel, y.data()).empty());
  CHECK(y[6] == 7);
  CHECK(says(failure(96, dynamic_kernel, y.data()), "of 64"));  // 256 bytes
}

TEST_CASE("launches that a GPU refuses are refused") {
  CHECK_THROWS_AS(launch({0, 32}, nullptr, early_return_kernel), emulator::Error);
  CHECK_THROWS_AS(launch({1, 0}, nullptr, early_return_kernel), emulator::Error);
  CHECK_THROWS_AS(launch({1, 1025}, nullptr, early_return_kernel), emulator::Error);
  CHECK_THROWS_AS(launch({1, 32, 100000}, nullptr, early_return_kernel), emulator::Error);
}

TEST_CASE("the order of threads follows the seed") {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    emulator::seed(1000 * seed);
    int next = 0;
    std::vector<int> order(64);
    launch({1, 64}, nullptr, order_kernel, &next, order.data());
    CHECK(std::set<int>(order.begin(), order.end()).size() == 64);
    orders.insert(order);
  }
  CHECK(orders.size() == 4);
}

TEST_CASE("shuffles take from the lane that CUDA takes from") {
  std::vector<std::int64_t> y(64);
  launch({1, 64}, nullptr, shuffle_kernel, y.data());
  for (std::int64_t i = 0; i < 64; ++i) {
    const std::int64_t lane = i % 32, up = lane >= 3 ? lane - 3 : lane, down = lane < 27 ? lane + 5 : lane;
    CHECK(y[static_cast<std::size_t>(i)] == up * 10000 + down * 100 + (lane ^ 9));
  }
}

TEST_CASE("the emulator goes on after a kernel that failed") {
  for (int round = 0; round < 3; ++round) {
    CHECK_FALSE(failure(64, early_return_kernel).empty());
    std::vector<std::int64_t> y(256);
    launch({1, 256}, nullptr, sum_kernel, y.data());
    CHECK(y == std::vector<std::int64_t>(256, 255 * 128));
  }
}

TEST_CASE("a device function outside a kernel is refused") {
  CHECK_THROWS_AS(__syncthreads(), emulator::Error);
}
