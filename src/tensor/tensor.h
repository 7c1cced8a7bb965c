// Dense row-major tensors in host memory.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace hf {

// Bytes that somebody else keeps alive.
struct TensorView {
  std::span<const std::byte> bytes;
  DType dtype = DType::f32;
  Sizes shape;

  std::int64_t size() const { return elements(shape); }
  // Elements of type T; the bytes need not be aligned, so this is for tensors that we allocated or checked.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// Bytes of a dense tensor; a size below zero or more than 64 bits count is Error{integrity}.
std::size_t bytes_of(DType dtype, std::span<const std::int64_t> shape);

// Owns its bytes, aligned to 64.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Sizes shape);  // zeros; Error{out_of_memory} where there is not enough
  static Tensor scalar(float value);
  static Tensor scalar(std::int64_t value);
  static Tensor vector(std::span<const std::int64_t> values);  // int64 [n]
  static Tensor copy_of(const TensorView& view);

  DType dtype() const { return dtype_; }
  const Sizes& shape() const { return shape_; }
  std::int64_t size() const { return elements(shape_); }
  std::span<std::byte> bytes() { return {data_.get(), bytes_}; }
  std::span<const std::byte> bytes() const { return {data_.get(), bytes_}; }
  TensorView view() const { return {bytes(), dtype_, shape_}; }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_.get()), bytes_ / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_.get()), bytes_ / sizeof(T)};
  }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  DType dtype_ = DType::f32;
  Sizes shape_;
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

// Element by element into another dtype. To floats it rounds once, to nearest even. A float becomes an
// integer by truncation; out of range it takes the range's end, and NaN becomes 0. An integer wraps in a
// narrower one. Lengths in elements must agree. Bytes need no alignment.
void convert(std::span<const std::byte> from, DType from_dtype, std::span<std::byte> to, DType to_dtype);
Tensor converted(const TensorView& view, DType dtype);

}  // namespace hf
