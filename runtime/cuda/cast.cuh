// Every element type into every other. One kernel a source type: the target is a switch that all threads take
// the same way, so that 13 kernels do instead of 169.
#pragma once
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/number.cuh"
#include "runtime/cuda/walk.cuh"

namespace hf::runtime::cuda {

template <class To, class V>
HF_DEVICE inline void store(void* y, std::int64_t i, V value) {
  static_cast<To*>(y)[i] = Narrow<To>::from(value);
}

template <class V>
HF_DEVICE inline void store_as(DType to, void* y, std::int64_t i, V value) {
  switch (to) {
    case DType::f64:
      return store<double>(y, i, value);
    case DType::f32:
      return store<float>(y, i, value);
    case DType::f16:
      return store<Half>(y, i, value);
    case DType::bf16:
      return store<Brain>(y, i, value);
    case DType::i64:
      return store<std::int64_t>(y, i, value);
    case DType::i32:
      return store<std::int32_t>(y, i, value);
    case DType::i16:
      return store<std::int16_t>(y, i, value);
    case DType::i8:
      return store<std::int8_t>(y, i, value);
    case DType::u64:
      return store<std::uint64_t>(y, i, value);
    case DType::u32:
      return store<std::uint32_t>(y, i, value);
    case DType::u16:
      return store<std::uint16_t>(y, i, value);
    case DType::u8:
      return store<std::uint8_t>(y, i, value);
    case DType::boolean:
      return store<Truth>(y, i, value);
  }
}

template <class From>
HF_KERNEL void cast_kernel(const From* x, DType to, void* y, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += index_step()) store_as(to, y, i, widened(x[i]));
}

template <class From>
void launch_cast(Stream stream, const From* x, DType to, void* y, std::int64_t count) {
  if (count > 0) launch(element_geometry(count), stream, cast_kernel<From>, x, to, y, count);
}

}  // namespace hf::runtime::cuda
