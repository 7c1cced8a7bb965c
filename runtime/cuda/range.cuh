// begin, begin + 1, …
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

HF_KERNEL inline void range_kernel(std::int64_t begin, std::int64_t* y, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) y[i] = begin + i;
}

inline void launch_range(Stream stream, std::int64_t begin, std::int64_t* y, std::int64_t count) {
  if (count > 0) launch(element_geometry(count), stream, range_kernel, begin, y, count);
}

}  // namespace hf::runtime::cuda
