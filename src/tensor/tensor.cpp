#include "tensor/tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>

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
void write(T, std::byte* p, std::size_t i, V value) {
  const T out = static_cast<T>(value);
  std::memcpy(p + i * sizeof(T), &out, sizeof out);
}
template <class V>
void write(bool, std::byte* p, std::size_t i, V value) {
  p[i] = std::byte{value != V(0)};
}
template <class V>
void write(HalfTag, std::byte* p, std::size_t i, V value) {
  write(std::uint16_t{}, p, i, f32_to_f16(static_cast<float>(value)));
}
template <class V>
void write(BrainTag, std::byte* p, std::size_t i, V value) {
  write(std::uint16_t{}, p, i, f32_to_bf16(static_cast<float>(value)));
}

}  // namespace

void Tensor::Free::operator()(std::byte* p) const { std::free(p); }

Tensor::Tensor(DType dtype, Sizes shape) : dtype_(dtype), shape_(std::move(shape)) {
  bytes_ = static_cast<std::size_t>(elements(shape_)) * size_of(dtype_);
  const std::size_t rounded = (bytes_ + 63) / 64 * 64;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded == 0 ? 64 : rounded)));
  if (!data_) throw std::bad_alloc();
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
