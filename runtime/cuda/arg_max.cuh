// The index of the first greatest element of each line; of the first NaN, where there is one.
#pragma once
#include "runtime/cuda/block.cuh"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class V>
struct Best {
  V value;
  std::int64_t index;  // -1: of nothing yet
};

template <class V>
HF_DEVICE inline Best<V> shuffled_xor(Best<V> best, int lanes) {
  return {__shfl_xor_sync(kWholeWarp, best.value, lanes), __shfl_xor_sync(kWholeWarp, best.index, lanes)};
}

struct Better {
  template <class V>
  HF_BOTH Best<V> operator()(Best<V> a, Best<V> b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a.value > b.value || b.value > a.value) return a.value > b.value ? a : b;
    return a.index < b.index ? a : b;
  }
};

template <class T>
HF_KERNEL void arg_max_kernel(const T* x, std::int64_t* y, Lines lines) {
  const Best<Wide<T>> none = {Wide<T>(0), -1};
  for (std::int64_t line = blockIdx.x; line < lines.outer * lines.inner; line += gridDim.x) {
    const std::int64_t start = line_start(lines, line);
    Best<Wide<T>> best = none;
    for (std::int64_t i = threadIdx.x; i < lines.length; i += blockDim.x)
      best = Better{}(best, Best<Wide<T>>{widened(x[start + i * lines.inner]), i});
    best = block_reduced(best, none, Better{});
    if (threadIdx.x == 0) y[line] = best.index;
  }
}

template <class T>
void launch_arg_max(Stream stream, const T* x, std::int64_t* y, const Lines& lines) {
  const std::int64_t count = lines.outer * lines.inner;
  if (count > 0) launch(line_geometry(count, lines.length), stream, arg_max_kernel<T>, x, y, lines);
}

}  // namespace hf::runtime::cuda
