// y = a ? b with broadcasting, a truth value. NaN compares false with everything.
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class T>
HF_BOTH inline bool compare_of(CompareKind kind, T a, T b) {
  switch (kind) {
    case CompareKind::equal:
      return a == b;
    case CompareKind::less:
      return a < b;
    case CompareKind::less_or_equal:
      return a <= b;
    case CompareKind::greater:
      return a > b;
    case CompareKind::greater_or_equal:
      break;
  }
  return a >= b;
}

template <class T>
HF_KERNEL void compare_kernel(CompareKind kind, const T* a, const T* b, Truth* y, Walk<2> walk) {
  for (std::int64_t i = first_index(); i < walk.count; i += index_step()) {
    const Offsets<2> at = offsets(walk, i);
    y[i] = narrowed<Truth>(compare_of(kind, widened(a[at.of[0]]), widened(b[at.of[1]])));
  }
}

template <class T>
void launch_compare(Stream stream, CompareKind kind, const T* a, const T* b, Truth* y, const Walk<2>& walk) {
  if (walk.count > 0) launch(element_geometry(walk.count), stream, compare_kernel<T>, kind, a, b, y, walk);
}

}  // namespace hf::runtime::cuda
