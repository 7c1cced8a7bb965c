// Element by element: y = f(x), in float for the floating types.
#pragma once
#include <cmath>

#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

HF_BOTH inline float unary_of(UnaryKind kind, float x) {
  switch (kind) {
    case UnaryKind::negate:
      return -x;
    case UnaryKind::absolute:
      return fabsf(x);
    case UnaryKind::exp:
      return expf(x);
    case UnaryKind::log:
      return logf(x);
    case UnaryKind::sqrt:
      return sqrtf(x);
    case UnaryKind::reciprocal:
      return 1.0f / x;
    case UnaryKind::erf:
      return erff(x);
    case UnaryKind::tanh:
      return tanhf(x);
    case UnaryKind::sigmoid:
      return 1.0f / (1.0f + expf(-x));
    case UnaryKind::relu:
      return x < 0.0f ? 0.0f : x;  // NaN stays
    case UnaryKind::sin:
      return sinf(x);
    case UnaryKind::cos:
      return cosf(x);
    case UnaryKind::logical_not:
      break;
  }
  return x == 0.0f ? 1.0f : 0.0f;
}

// Integers are only negated, made absolute or cut at zero.
template <class T>
HF_BOTH inline T integer_unary_of(UnaryKind kind, T x) {
  if (kind == UnaryKind::negate || (kind == UnaryKind::absolute && x < 0)) return static_cast<T>(T(0) - x);
  return kind == UnaryKind::relu && x < 0 ? T(0) : x;
}
HF_BOTH inline std::int64_t unary_of(UnaryKind kind, std::int64_t x) { return integer_unary_of(kind, x); }
HF_BOTH inline std::int32_t unary_of(UnaryKind kind, std::int32_t x) { return integer_unary_of(kind, x); }
HF_BOTH inline bool unary_of(UnaryKind, bool x) { return !x; }

template <class T>
HF_KERNEL void unary_kernel(UnaryKind kind, const T* x, T* y, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step())
    y[i] = narrowed<T>(unary_of(kind, widened(x[i])));
}

template <class T>
void launch_unary(Stream stream, UnaryKind kind, const T* x, T* y, std::int64_t count) {
  if (count > 0) launch(element_geometry(count), stream, unary_kernel<T>, kind, x, y, count);
}

}  // namespace hf::runtime::cuda
