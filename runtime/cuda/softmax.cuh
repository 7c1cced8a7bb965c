// exp(x - max) / sum(exp(x - max)) along one axis: a block a line, sums in float.
#pragma once
#include <cmath>

#include "runtime/cuda/block.cuh"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T>
HF_KERNEL void softmax_kernel(const T* x, T* y, Lines lines) {
  const float lowest = -INFINITY;
  for (std::int64_t line = blockIdx.x; line < lines.outer * lines.inner; line += gridDim.x) {
    const std::int64_t start = line_start(lines, line);
    float greatest = lowest;
    for (std::int64_t i = threadIdx.x; i < lines.length; i += blockDim.x)
      greatest = Greatest{}(greatest, widened(x[start + i * lines.inner]));
    greatest = block_reduced(greatest, lowest, Greatest{});
    float sum = 0;
    for (std::int64_t i = threadIdx.x; i < lines.length; i += blockDim.x)
      sum += expf(widened(x[start + i * lines.inner]) - greatest);
    sum = block_reduced(sum, 0.0f, Sum{});
    for (std::int64_t i = threadIdx.x; i < lines.length; i += blockDim.x) {
      const std::int64_t at = start + i * lines.inner;
      y[at] = narrowed<T>(expf(widened(x[at]) - greatest) / sum);
    }
  }
}

template <class T>
void launch_softmax(Stream stream, const T* x, T* y, const Lines& lines) {
  const std::int64_t count = lines.outer * lines.inner;
  if (count > 0 && lines.length > 0)
    launch(line_geometry(count, lines.length), stream, softmax_kernel<T>, x, y, lines);
}

}  // namespace hf::runtime::cuda
