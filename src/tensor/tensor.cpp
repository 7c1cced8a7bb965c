#include "tensor/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "tensor/half.h"

namespace hf {
namespace {

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Calls f(tag) with a value of the C++ type that stores `dtype`; fp16 and bf16 come as their own tags.
struct HalfTag {};
struct BrainTag {};
template <class F>
void with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(double{});
    case DType::f32:
      return f(float{});
    case DType::f16:
      return f(HalfTag{});
    case DType::bf16:
      return f(BrainTag{});
    case DType::i64:
      return f(std::int64_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::i16:
      return f(std::int16_t{});
    case DType::i8:
      return f(std::int8_t{});
    case DType::u64:
      return f(std::uint64_t{});
    case DType::u32:
      return f(std::uint32_t{});
    case DType::u16:
      return f(std::uint16_t{});
    case DType::u8:
      return f(std::uint8_t{});
    case DType::boolean:
      return f(bool{});
  }
}

// Rounds to odd: inexact values get the odd one of their two neighbours, and rounding that to fp16 or bf16 is
// the same as rounding the value itself. long double holds every double and every 64-bit integer.
float to_odd(long double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (nearest == value || std::isnan(nearest) || (bits & 1) != 0) return nearest;
  return std::bit_cast<float>(std::fabs(nearest) > std::fabs(value) ? bits - 1 : bits + 1);
}

template <class T>
auto read(T, const std::byte* p, std::size_t i) {
  return load<T>(p + i * sizeof(T));
}
bool read(bool, const std::byte* p, std::size_t i) { return p[i] != std::byte{0}; }
float read(HalfTag, const std::byte* p, std::size_t i) { return f16_to_f32(load<std::uint16_t>(p + 2 * i)); }
float read(BrainTag, const std::byte* p, std::size_t i) {
  return bf16_to_f32(load<std::uint16_t>(p + 2 * i));
}

template <class T, class V>
T cast(V value) {
  if constexpr (std::is_floating_point_v<V> && std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<V>(Limits::min())) return Limits::min();
    if (value >= std::ldexp(V(1), Limits::digits)) return Limits::max();
  }
  return static_cast<T>(value);
}

// What fp16 or bf16 is made from.
template <class V>
float to_float(V value) {
  if constexpr (sizeof(V) > 4 || (sizeof(V) == 4 && std::is_integral_v<V>)) return to_odd(value);
  return static_cast<float>(value);
}

template <class T, class V>
void write(T, std::byte* p, std::size_t i, V value) {
  const T out = cast<T>(value);
  std::memcpy(p + i * sizeof(T), &out, sizeof out);
}
template <class V>
void write(bool, std::byte* p, std::size_t i, V value) {
  p[i] = std::byte{value != V(0)};
}
template <class V>
void write(HalfTag, std::byte* p, std::size_t i, V value) {
  write(std::uint16_t{}, p, i, f32_to_f16(to_float(value)));
}
template <class V>
void write(BrainTag, std::byte* p, std::size_t i, V value) {
  write(std::uint16_t{}, p, i, f32_to_bf16(to_float(value)));
}

}  // namespace

void Tensor::Free::operator()(std::byte* p) const { std::free(p); }

std::size_t bytes_of(DType dtype, std::span<const std::int64_t> shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; }))
    throw Error(ErrorKind::integrity, "shape " + to_string(shape) + " has a negative size");
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements(shape), static_cast<std::int64_t>(size_of(dtype)), &bytes))
    throw Error(ErrorKind::integrity, "shape " + to_string(shape) + " has more bytes than 64 bits count");
  return static_cast<std::size_t>(bytes);
}

Tensor::Tensor(DType dtype, Sizes shape) : dtype_(dtype), shape_(std::move(shape)) {
  bytes_ = bytes_of(dtype_, shape_);
  const std::size_t rounded = (bytes_ + 63) / 64 * 64;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded == 0 ? 64 : rounded)));
  if (!data_)
    throw Error(ErrorKind::out_of_memory, "a tensor of shape " + to_string(shape_) + " needs " +
                                              std::to_string(bytes_) + " bytes, which memory does not have");
  std::memset(data_.get(), 0, bytes_);
}

Tensor Tensor::scalar(float value) {
  Tensor t(DType::f32, {});
  t.as<float>()[0] = value;
  return t;
}

Tensor Tensor::scalar(std::int64_t value) {
  Tensor t(DType::i64, {});
  t.as<std::int64_t>()[0] = value;
  return t;
}

Tensor Tensor::vector(std::span<const std::int64_t> values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.as<std::int64_t>().begin());
  return t;
}

Tensor Tensor::copy_of(const TensorView& view) {
  Tensor t(view.dtype, view.shape);
  if (view.bytes.size() != t.bytes_) throw Error(ErrorKind::internal, "copy_of: bytes of another length");
  if (!view.bytes.empty()) std::memcpy(t.data_.get(), view.bytes.data(), t.bytes_);
  return t;
}

void convert(std::span<const std::byte> from, DType from_dtype, std::span<std::byte> to, DType to_dtype) {
  const std::size_t count = from.size() / size_of(from_dtype);
  if (count != to.size() / size_of(to_dtype)) throw Error(ErrorKind::internal, "convert: lengths differ");
  if (from_dtype == to_dtype) {
    if (count > 0) std::memmove(to.data(), from.data(), from.size());
    return;
  }
  with_type(from_dtype, [&](auto source) {
    with_type(to_dtype, [&](auto target) {
      for (std::size_t i = 0; i < count; ++i) write(target, to.data(), i, read(source, from.data(), i));
    });
  });
}

Tensor converted(const TensorView& view, DType dtype) {
  Tensor out(dtype, view.shape);
  convert(view.bytes, view.dtype, out.bytes(), dtype);
  return out;
}

}  // namespace hf
