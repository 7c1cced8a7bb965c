// Running sums along one axis: a block a line, which it scans piece by piece; in float for the floating
// types.
#pragma once
#include "runtime/cuda/block.cuh"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T>
HF_KERNEL void cumsum_kernel(const T* x, T* y, Lines lines) {
  for (std::int64_t line = blockIdx.x; line < lines.outer * lines.inner; line += gridDim.x) {
    const std::int64_t start = line_start(lines, line);
    Wide<T> before = 0;
    for (std::int64_t piece = 0; piece < lines.length; piece += blockDim.x) {
      const std::int64_t i = piece + threadIdx.x, at = start + i * lines.inner;
      const Scan<Wide<T>> scan = block_scanned(i < lines.length ? widened(x[at]) : Wide<T>(0));
      if (i < lines.length) y[at] = narrowed<T>(before + scan.up_to_here);
      before += scan.all;
    }
  }
}

template <class T>
void launch_cumsum(Stream stream, const T* x, T* y, const Lines& lines) {
  const std::int64_t count = lines.outer * lines.inner;
  if (count > 0 && lines.length > 0)
    launch(line_geometry(count, lines.length), stream, cumsum_kernel<T>, x, y, lines);
}

}  // namespace hf::runtime::cuda
