// y[o, i, :] = x[o, indices[i], :]: embeddings, and everything else that is looked up.
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

HF_DEVICE inline void report(Fault* fault, int place, std::int64_t index, std::int64_t size) {
  if (atomicCAS(&fault->happened, 0, 1) != 0) return;
  fault->place = place;
  fault->index = index;
  fault->size = size;
}

template <class T>
HF_KERNEL void gather_kernel(const T* x, const std::int64_t* indices, T* y, GatherSizes sizes, Fault* fault,
                             int place) {
  const std::int64_t count = sizes.outer * sizes.indices * sizes.inner;
  for (std::int64_t i = first_index(); i < count; i += index_step()) {
    const std::int64_t line = i / sizes.inner, within = i - line * sizes.inner;
    const std::int64_t outer = line / sizes.indices;
    const std::int64_t index = indices[line - outer * sizes.indices];
    const bool inside = index >= 0 && index < sizes.axis;
    if (!inside) report(fault, place, index, sizes.axis);
    y[i] = inside ? x[(outer * sizes.axis + index) * sizes.inner + within] : T(0);
  }
}

template <class T>
void launch_gather(Stream stream, const T* x, const std::int64_t* indices, T* y, const GatherSizes& sizes,
                   Fault* fault, int place) {
  const std::int64_t count = sizes.outer * sizes.indices * sizes.inner;
  if (count > 0)
    launch(element_geometry(count), stream, gather_kernel<T>, x, indices, y, sizes, fault, place);
}

}  // namespace hf::runtime::cuda
