// A copy between two layouts of one index space: Transpose and Slice (x strided), Expand (x repeated), Concat
// (y strided). Elements are only moved, so their size is all that counts.
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T>
HF_KERNEL void relayout_kernel(const T* x, T* y, Walk<2> walk) {
  for (std::int64_t i = first_index(); i < walk.count; i += index_step()) {
    const Offsets<2> at = offsets(walk, i);
    y[at.of[1]] = x[at.of[0]];
  }
}

template <class T>
void launch_relayout(Stream stream, const T* x, T* y, const Walk<2>& walk) {
  if (walk.count > 0) launch(element_geometry(walk.count), stream, relayout_kernel<T>, x, y, walk);
}

}  // namespace hf::runtime::cuda
