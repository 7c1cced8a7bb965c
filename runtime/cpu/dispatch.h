// From a tensor's dtype to the C++ type that a kernel is written in.
#pragma once
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/escape.h"
#include "runtime/cpu/kernels.h"

namespace hf::runtime::cpu {

template <class T>
inline constexpr DType kDTypeOf = DType::boolean;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::i64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::i32;

// "encoder.layer.0: MatMul", what a message about a call begins with.
inline std::string subject(const Call& call) {
  const std::string op(name_of(call.node.op));
  return call.node.path.empty() ? op : escaped(call.node.path) + ": " + op;
}

// Calls f(T{}) with the one of Ts that stores `dtype`.
template <class... Ts, class F>
void with_type(const Call& call, DType dtype, F&& f) {
  const bool known = ((kDTypeOf<Ts> == dtype && (f(Ts{}), true)) || ...);
  if (!known)
    throw Error(ErrorKind::unsupported,
                subject(call) + " has no CPU kernel for " + std::string(name_of(dtype)));
}

// Calls f with an unsigned integer as wide as an element: for kernels that only move values.
template <class F>
void with_width(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 8:
      return f(std::uint64_t{});
    case 4:
      return f(std::uint32_t{});
    case 2:
      return f(std::uint16_t{});
    default:
      return f(std::uint8_t{});
  }
}

// Elements that a thread should have at least: less is not worth waking one.
inline constexpr std::size_t kGrain = 16384;

// Splits `rows` of `width` elements each over the threads: f(begin, end).
template <class F>
void for_rows(const Call& call, std::int64_t rows, std::int64_t width, F&& f) {
  const std::size_t grain = kGrain / static_cast<std::size_t>(width > 0 ? width : 1) + 1;
  call.pool.for_ranges(static_cast<std::size_t>(rows), grain, [&](std::size_t begin, std::size_t end) {
    f(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
  });
}

}  // namespace hf::runtime::cpu
