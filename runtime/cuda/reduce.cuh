// Sum, mean, greatest and least over any axes: a block a result, in float for the floating types.
#pragma once
#include "runtime/cuda/block.cuh"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T, class Combine>
HF_KERNEL void reduce_kernel(const T* x, T* y, Walk<1> kept, Walk<1> reduced, Wide<T> identity, bool mean) {
  for (std::int64_t result = blockIdx.x; result < kept.count; result += gridDim.x) {
    const T* from = x + offsets(kept, result).of[0];
    Wide<T> value = identity;
    for (std::int64_t i = threadIdx.x; i < reduced.count; i += blockDim.x)
      value = Combine{}(value, widened(from[offsets(reduced, i).of[0]]));
    value = block_reduced(value, identity, Combine{});
    if (threadIdx.x == 0) y[result] = narrowed<T>(mean ? value / static_cast<Wide<T>>(reduced.count) : value);
  }
}

template <class T, class Combine>
void launch_reduce(Stream stream, const T* x, T* y, const Walk<1>& kept, const Walk<1>& reduced,
                   Wide<T> identity, bool mean) {
  if (kept.count > 0)
    launch(line_geometry(kept.count, reduced.count), stream, reduce_kernel<T, Combine>, x, y, kept, reduced,
           identity, mean);
}

}  // namespace hf::runtime::cuda
