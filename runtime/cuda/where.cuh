// y = condition ? then : otherwise, the three broadcast together. Elements are only moved, so their size is
// all that counts.
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T>
HF_KERNEL void where_kernel(const Truth* condition, const T* then, const T* otherwise, T* y, Walk<3> walk) {
  for (std::int64_t i = first_index(); i < walk.count; i += index_step()) {
    const Offsets<3> at = offsets(walk, i);
    y[i] = widened(condition[at.of[0]]) ? then[at.of[1]] : otherwise[at.of[2]];
  }
}

template <class T>
void launch_where(Stream stream, const Truth* condition, const T* then, const T* otherwise, T* y,
                  const Walk<3>& walk) {
  if (walk.count > 0)
    launch(element_geometry(walk.count), stream, where_kernel<T>, condition, then, otherwise, y, walk);
}

}  // namespace hf::runtime::cuda
