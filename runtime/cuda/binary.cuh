// y = f(a, b) with broadcasting, in float for the floating types.
#pragma once
#include <cmath>

#include "runtime/cuda/block.cuh"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

HF_BOTH inline float quotient(float a, float b) { return a / b; }
HF_BOTH inline float power_of(float a, float b) { return powf(a, b); }

// Integers truncate, as C++ does; a division by zero, which would stop a CPU, is 0 here.
template <class T>
HF_BOTH inline T quotient(T a, T b) {
  if (b == T(-1)) return static_cast<T>(T(0) - a);  // the lowest number has no positive
  return b == T(0) ? T(0) : static_cast<T>(a / b);
}
template <class T>
HF_BOTH inline T power_of(T base, T exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == -1 ? (exponent % 2 == 0 ? T(1) : T(-1)) : T(0);
  std::uint64_t result = 1, factor = static_cast<std::uint64_t>(base);  // unsigned: overflow wraps
  for (; exponent > 0; exponent /= 2, factor *= factor)
    if (exponent % 2 == 1) result *= factor;
  return static_cast<T>(result);
}

template <class T>
HF_BOTH inline T binary_of(BinaryKind kind, T a, T b) {
  switch (kind) {
    case BinaryKind::add:
      return a + b;
    case BinaryKind::subtract:
      return a - b;
    case BinaryKind::multiply:
      return a * b;
    case BinaryKind::divide:
      return quotient(a, b);
    case BinaryKind::power:
      return power_of(a, b);
    case BinaryKind::minimum:
      return Least{}(a, b);
    case BinaryKind::maximum:
      return Greatest{}(a, b);
    case BinaryKind::logical_and:
      return static_cast<T>(a != T(0) && b != T(0));
    case BinaryKind::logical_or:
      break;
  }
  return static_cast<T>(a != T(0) || b != T(0));
}
template <>
HF_BOTH inline bool binary_of<bool>(BinaryKind kind, bool a, bool b) {
  return kind == BinaryKind::logical_and ? a && b : a || b;
}

template <class T>
HF_KERNEL void binary_kernel(BinaryKind kind, const T* a, const T* b, T* y, Walk<2> walk) {
  for (std::int64_t i = first_index(); i < walk.count; i += index_step()) {
    const Offsets<2> at = offsets(walk, i);
    y[i] = narrowed<T>(binary_of(kind, widened(a[at.of[0]]), widened(b[at.of[1]])));
  }
}

template <class T>
void launch_binary(Stream stream, BinaryKind kind, const T* a, const T* b, T* y, const Walk<2>& walk) {
  if (walk.count > 0) launch(element_geometry(walk.count), stream, binary_kernel<T>, kind, a, b, y, walk);
}

}  // namespace hf::runtime::cuda
