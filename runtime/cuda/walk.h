// How a kernel walks several tensors in step: the sizes of one index space, and each tensor's stride along
// each of its axes. No CUDA here: a Walk is made on the host and passed to a kernel by value.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hf::runtime::cuda {

inline constexpr int kMaxRank = 8;

// Indices 0 <= i < count count the space row-major. Strides are in elements; 0 repeats a tensor along an
// axis.
template <int N>
struct Walk {
  std::int64_t count = 0;
  int rank = 0;
  bool narrow =
      false;  // every index and offset fits 31 bits: divisions by 32-bit numbers, several times faster
  std::int64_t size[kMaxRank] = {};
  std::int64_t stride[N][kMaxRank] = {};
};

using Numbers = std::vector<std::int64_t>;

// Strides of a dense row-major tensor.
Numbers dense_strides(std::span<const std::int64_t> shape);
// Strides of a dense tensor of `shape` seen as `over`, which it broadcasts to.
Numbers broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> over);

// Axes of size 1 go and axes that lie in one piece for every tensor are merged, so that most walks have one
// or two axes. Throws Error{unsupported} where more than kMaxRank are left.
template <int N>
Walk<N> make_walk(std::span<const std::int64_t> sizes, const std::array<Numbers, N>& strides);

}  // namespace hf::runtime::cuda
