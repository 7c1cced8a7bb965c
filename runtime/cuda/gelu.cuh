// x Φ(x), the Gaussian error linear unit (arXiv 1606.08415): exactly, by erf, or by its tanh approximation.
#pragma once
#include <cmath>

#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

HF_BOTH inline float gelu_of(GeluKind kind, float x) {
  constexpr float root_half = 0.70710678118654752f, root_two_over_pi = 0.79788456080286536f;
  if (kind == GeluKind::erf) return 0.5f * x * (1.0f + erff(x * root_half));
  return 0.5f * x * (1.0f + tanhf(root_two_over_pi * (x + 0.044715f * x * x * x)));
}

template <class T>
HF_KERNEL void gelu_kernel(GeluKind kind, const T* x, T* y, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step())
    y[i] = narrowed<T>(gelu_of(kind, widened(x[i])));
}

template <class T>
void launch_gelu(Stream stream, GeluKind kind, const T* x, T* y, std::int64_t count) {
  if (count > 0) launch(element_geometry(count), stream, gelu_kernel<T>, kind, x, y, count);
}

}  // namespace hf::runtime::cuda
