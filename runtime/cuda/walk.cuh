// The device's side of a Walk: where element i of the index space lies in each tensor.
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/portability.cuh"
#include "runtime/cuda/walk.h"

namespace hf::runtime::cuda {

template <int N>
struct Offsets {
  std::int64_t of[N];
};

template <class Index, int N>
HF_BOTH inline Offsets<N> offsets_by(const Walk<N>& walk, Index index) {
  Offsets<N> result = {};
  for (int axis = walk.rank - 1; axis >= 0; --axis) {
    const Index size = static_cast<Index>(walk.size[axis]);
    const Index outer = axis == 0 ? 0 : index / size;
    const Index along = index - outer * size;
    for (int n = 0; n < N; ++n) result.of[n] += static_cast<std::int64_t>(along) * walk.stride[n][axis];
    index = outer;
  }
  return result;
}

template <int N>
HF_BOTH inline Offsets<N> offsets(const Walk<N>& walk, std::int64_t index) {
  return walk.narrow ? offsets_by(walk, static_cast<std::uint32_t>(index))
                     : offsets_by(walk, static_cast<std::uint64_t>(index));
}

// A loop over `count` elements by all threads of the grid:
//   for (std::int64_t i = first_index(); i < count; i += index_step())
HF_DEVICE inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
HF_DEVICE inline std::int64_t index_step() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

// Where line number `line` of an axis begins.
HF_BOTH inline std::int64_t line_start(const Lines& lines, std::int64_t line) {
  const std::int64_t outer = line / lines.inner;
  return outer * lines.length * lines.inner + (line - outer * lines.inner);
}

// One thread an element, up to a grid that fills any GPU; the loop does the rest. `count` > 0.
inline Geometry element_geometry(std::int64_t count) {
  constexpr std::int64_t threads = 256, most_blocks = 1 << 16;
  const std::int64_t blocks = (count + threads - 1) / threads;
  return {static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), static_cast<unsigned>(threads)};
}

// One block a line of `length` elements; blocks take further lines in turn. `lines` > 0.
inline Geometry line_geometry(std::int64_t lines, std::int64_t length) {
  constexpr std::int64_t most_threads = 256, most_blocks = 1 << 16;
  unsigned threads = 32;
  while (threads < most_threads && threads < length) threads *= 2;
  return {static_cast<unsigned>(lines < most_blocks ? lines : most_blocks), threads};
}

}  // namespace hf::runtime::cuda
