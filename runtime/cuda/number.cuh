// Elements as they lie in memory, and as kernels compute with them: fp16 and bf16 as float, a truth value as
// bool, every other type as itself.
#pragma once
#include <cstring>

#include "runtime/cuda/portability.cuh"
#include "tensor/dtype.h"

namespace hf::runtime::cuda {

struct Half {
  std::uint16_t bits;
};
struct Brain {  // the upper half of a float
  std::uint16_t bits;
};
struct Truth {  // any byte but 0 is true
  std::uint8_t byte;
};

HF_BOTH inline float widened(Half x) { return float_of_half(x.bits); }
HF_BOTH inline float widened(Brain x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}
HF_BOTH inline bool widened(Truth x) { return x.byte != 0; }
template <class T>
HF_BOTH inline T widened(T x) {
  return x;
}

template <class T>
using Wide = decltype(widened(T{}));

// From any type that kernels compute with to an element, as tensor/ converts on the host: to the nearest,
// ties to even; a float to an integer truncates; to a truth value, whether it is not zero.
template <class T>
struct Narrow {
  template <class V>
  HF_BOTH static T from(V value) {
    return static_cast<T>(value);
  }
};
template <>
struct Narrow<Half> {
  template <class V>
  HF_BOTH static Half from(V value) {
    return {half_of_float(static_cast<float>(value))};
  }
};
template <>
struct Narrow<Brain> {
  template <class V>
  HF_BOTH static Brain from(V value) {
    const float x = static_cast<float>(value);
    std::uint32_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    if (x != x)
      return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};  // quiet, lest it round to infinity
    return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
  }
};
template <>
struct Narrow<Truth> {
  template <class V>
  HF_BOTH static Truth from(V value) {
    return {static_cast<std::uint8_t>(value != V(0))};
  }
};

template <class T>
HF_BOTH inline T narrowed(Wide<T> value) {
  return Narrow<T>::from(value);
}

// ---- on the host: from a DType to the type of its elements

template <class T>
struct Element {
  using Type = T;
};
template <class T>
inline constexpr DType kDType = T::has_no_dtype;  // only the types below have one
template <>
inline constexpr DType kDType<float> = DType::f32;
template <>
inline constexpr DType kDType<double> = DType::f64;
template <>
inline constexpr DType kDType<Half> = DType::f16;
template <>
inline constexpr DType kDType<Brain> = DType::bf16;
template <>
inline constexpr DType kDType<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDType<std::int32_t> = DType::i32;
template <>
inline constexpr DType kDType<std::int16_t> = DType::i16;
template <>
inline constexpr DType kDType<std::int8_t> = DType::i8;
template <>
inline constexpr DType kDType<std::uint64_t> = DType::u64;
template <>
inline constexpr DType kDType<std::uint32_t> = DType::u32;
template <>
inline constexpr DType kDType<std::uint16_t> = DType::u16;
template <>
inline constexpr DType kDType<std::uint8_t> = DType::u8;
template <>
inline constexpr DType kDType<Truth> = DType::boolean;

template <class... Ts>
struct Types {};
using Floats = Types<float, Half, Brain>;
using Numeric = Types<float, Half, Brain, std::int64_t, std::int32_t>;

// Calls f(Element<T>{}) for the T among Ts that stores `dtype`; false where none does.
template <class... Ts, class F>
bool with_element(Types<Ts...>, DType dtype, F&& f) {
  return ((dtype == kDType<Ts> && (f(Element<Ts>{}), true)) || ...);
}

// Calls f(Element<T>{}) with an unsigned T of that many bytes, for kernels that only move elements.
template <class F>
bool with_bytes(std::size_t bytes, F&& f) {
  const auto fits = [&](auto element) {
    return sizeof(typename decltype(element)::Type) == bytes && (f(element), true);
  };
  return fits(Element<std::uint8_t>{}) || fits(Element<std::uint16_t>{}) || fits(Element<std::uint32_t>{}) ||
         fits(Element<std::uint64_t>{});
}

}  // namespace hf::runtime::cuda
