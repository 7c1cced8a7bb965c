// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis (arXiv 1607.06450): a block a row,
// sums in float. The variance is taken about the mean in a second pass: one pass over x² cancels.
#pragma once
#include <cmath>

#include "runtime/cuda/block.cuh"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T>
HF_KERNEL void layer_norm_kernel(const T* x, const T* weight, const T* bias, T* y, std::int64_t rows,
                                 std::int64_t columns, float epsilon) {
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const T* row = x + r * columns;
    float sum = 0;
    for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) sum += widened(row[i]);
    const float mean = block_reduced(sum, 0.0f, Sum{}) / static_cast<float>(columns);
    float squares = 0;
    for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
      const float deviation = widened(row[i]) - mean;
      squares += deviation * deviation;
    }
    const float variance = block_reduced(squares, 0.0f, Sum{}) / static_cast<float>(columns);
    const float scale = 1.0f / sqrtf(variance + epsilon);
    for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x)
      y[r * columns + i] =
          narrowed<T>((widened(row[i]) - mean) * scale * widened(weight[i]) + widened(bias[i]));
  }
}

template <class T>
void launch_layer_norm(Stream stream, const T* x, const T* weight, const T* bias, T* y, std::int64_t rows,
                       std::int64_t columns, float epsilon) {
  if (rows > 0 && columns > 0)
    launch(line_geometry(rows, columns), stream, layer_norm_kernel<T>, x, weight, bias, y, rows, columns,
           epsilon);
}

}  // namespace hf::runtime::cuda
