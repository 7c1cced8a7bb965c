#include "tensor/tensor.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "support/error_of.h"
#include "tensor/half.h"

using namespace hf;
using hf::test::error_of;

namespace {

constexpr DType kAll[] = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                          DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                          DType::u16, DType::u8,  DType::boolean};

template <class T>
Tensor of(DType dtype, const std::vector<T>& values) {
  Tensor t(dtype, {static_cast<std::int64_t>(values.size())});
  REQUIRE(t.bytes().size() == values.size() * sizeof(T));
  std::memcpy(t.bytes().data(), values.data(), values.size() * sizeof(T));
  return t;
}

template <class T>
std::vector<T> to(const Tensor& tensor, DType dtype) {
  const Tensor out = converted(tensor.view(), dtype);
  std::vector<T> values(out.bytes().size() / sizeof(T));
  std::memcpy(values.data(), out.bytes().data(), out.bytes().size());
  return values;
}

}  // namespace

TEST_CASE("a new tensor is zeros, aligned to 64 bytes") {
  for (const DType dtype : kAll) {
    const Tensor t(dtype, {3, 5});
    CHECK(t.size() == 15);
    CHECK(t.bytes().size() == 15 * size_of(dtype));
    CHECK(reinterpret_cast<std::uintptr_t>(t.bytes().data()) % 64 == 0);
    for (const std::byte b : t.bytes()) CHECK(b == std::byte{0});
  }
  CHECK(Tensor(DType::f32, {2, 0, 3}).bytes().empty());
  CHECK(Tensor(DType::f32, {}).bytes().size() == 4);
}

TEST_CASE("scalars, vectors and copies hold what they were given") {
  CHECK(Tensor::scalar(1.5f).as<float>()[0] == 1.5f);
  CHECK(Tensor::scalar(std::int64_t{-3}).as<std::int64_t>()[0] == -3);
  CHECK(Tensor::scalar(1.5f).shape().empty());
  const std::vector<std::int64_t> values{4, 5, 6};
  const Tensor vector = Tensor::vector(values);
  CHECK(vector.shape() == Sizes{3});
  const Tensor copy = Tensor::copy_of(vector.view());
  CHECK(copy.bytes().data() != vector.bytes().data());
  CHECK(std::vector(copy.as<std::int64_t>().begin(), copy.as<std::int64_t>().end()) == values);
}

TEST_CASE("a size that is negative or leaves 64 bits is refused before anything is allocated") {
  CHECK(error_of([] { Tensor(DType::f32, {2, -1}); }) == ErrorKind::integrity);
  CHECK(error_of([] { Tensor(DType::f32, {0, -1}); }) == ErrorKind::integrity);
  CHECK(error_of([] { Tensor(DType::f64, {std::int64_t{1} << 61}); }) == ErrorKind::integrity);
  CHECK(error_of([] { Tensor(DType::f32, {INT64_MAX, INT64_MAX}); }) == ErrorKind::integrity);
  CHECK(bytes_of(DType::f16, Sizes{3, 5}) == 30);
}

TEST_CASE("more memory than there is is an error that says how much") {
  const auto caught = error_of([] { Tensor(DType::u8, {std::int64_t{1} << 55}); });
  CHECK(caught == ErrorKind::out_of_memory);
  CHECK(caught.says("36028797018963968 bytes"));
}

TEST_CASE("a view whose bytes do not have its shape is not copied") {
  const Tensor t(DType::f32, {4});
  CHECK(error_of([&] { Tensor::copy_of({t.bytes().first(12), DType::f32, {4}}); }) == ErrorKind::internal);
  CHECK(error_of([&] { converted({t.bytes(), DType::f32, {3}}, DType::f64); }) == ErrorKind::internal);
}

TEST_CASE("small integers survive the way through every pair of dtypes") {
  const std::vector<std::int32_t> values{0, 1, 2, 100, 127};
  for (const DType from : kAll) {
    for (const DType dtype : kAll) {
      CAPTURE(name_of(from));
      CAPTURE(name_of(dtype));
      const Tensor source = converted(of(DType::i32, values).view(), from);
      const Tensor target = converted(source.view(), dtype);
      const bool truth = from == DType::boolean || dtype == DType::boolean;
      CHECK(to<std::int32_t>(target, DType::i32) ==
            (truth ? std::vector<std::int32_t>{0, 1, 1, 1, 1} : values));
    }
  }
}

TEST_CASE("floats truncate towards zero when they become integers") {
  const Tensor t = of<float>(DType::f32, {1.9f, -1.9f, 0.5f, -0.5f});
  CHECK(to<std::int64_t>(t, DType::i64) == std::vector<std::int64_t>{1, -1, 0, 0});
  CHECK(to<std::int8_t>(t, DType::i8) == std::vector<std::int8_t>{1, -1, 0, 0});
}

TEST_CASE("floats out of an integer's range take its end, a NaN becomes zero") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor t =
      of<float>(DType::f32, {1e30f, -1e30f, infinity, -infinity, std::nanf(""), 9223372036854775808.0f});
  CHECK(to<std::int64_t>(t, DType::i64) ==
        std::vector<std::int64_t>{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, INT64_MAX});
  CHECK(to<std::int32_t>(t, DType::i32) ==
        std::vector<std::int32_t>{INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, INT32_MAX});
  CHECK(to<std::uint8_t>(t, DType::u8) == std::vector<std::uint8_t>{255, 0, 255, 0, 0, 255});
  CHECK(to<std::uint64_t>(t, DType::u64)[5] == std::uint64_t{1} << 63);
  CHECK(to<std::int32_t>(of<double>(DType::f64, {2147483646.5, -2147483648.9, 2147483647.9}), DType::i32) ==
        std::vector<std::int32_t>{2147483646, INT32_MIN, INT32_MAX});
}

TEST_CASE("whatever is not zero is true, a NaN as well") {
  const Tensor t = of<float>(DType::f32, {0.0f, -0.0f, 0.25f, std::nanf("")});
  CHECK(to<std::uint8_t>(t, DType::boolean) == std::vector<std::uint8_t>{0, 0, 1, 1});
  CHECK(to<std::int64_t>(of<std::uint8_t>(DType::boolean, {0, 1, 7}), DType::i64) ==
        std::vector<std::int64_t>{0, 1, 1});
}

TEST_CASE("wide numbers round once on their way to fp16 and bf16") {
  // Just above the middle of 1 and the next fp16: rounding to fp32 first would land on the middle, and then
  // on 1.
  CHECK(to<std::uint16_t>(of<double>(DType::f64, {1.0 + 0x1p-11 + 0x1p-40}), DType::f16)[0] == 0x3C01);
  CHECK(to<std::uint16_t>(of<double>(DType::f64, {1.0 + 0x1p-11}), DType::f16)[0] == 0x3C00);
  CHECK(to<std::uint16_t>(of<double>(DType::f64, {1.0 + 0x1p-8 + 0x1p-40}), DType::bf16)[0] == 0x3F81);
  CHECK(to<std::uint16_t>(of<double>(DType::f64, {1.0 + 0x1p-7 + 0x1p-8 - 0x1p-40}), DType::bf16)[0] ==
        0x3F81);
  CHECK(to<std::uint16_t>(of<double>(DType::f64, {-0x1p-25 - 0x1p-60}), DType::f16)[0] == 0x8001);
  CHECK(to<std::uint16_t>(of<double>(DType::f64, {1e300}), DType::bf16)[0] == 0x7F80);
  const std::int64_t above_middle = (std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1;
  CHECK(to<std::uint16_t>(of<std::int64_t>(DType::i64, {above_middle}), DType::bf16)[0] == 0x5381);
  CHECK(std::isnan(
      to<float>(converted(of<double>(DType::f64, {std::nan("")}).view(), DType::f16), DType::f32)[0]));
}

TEST_CASE("large integers keep their value between the 64-bit dtypes") {
  CHECK(to<std::uint64_t>(of<std::int64_t>(DType::i64, {INT64_MAX}), DType::u64)[0] == INT64_MAX);
  CHECK(to<std::int8_t>(of<std::int32_t>(DType::i32, {257}), DType::i8)[0] == 1);  // wraps, as ONNX's Cast
}

TEST_CASE("bytes may lie at any address") {
  std::vector<std::byte> raw(4 * 3 + 1), out(8 * 3 + 1);
  const float values[] = {1.0f, -2.5f, 3.0f};
  std::memcpy(raw.data() + 1, values, sizeof values);
  convert(std::span(raw).subspan(1), DType::f32, std::span(out).subspan(1), DType::f64);
  double got[3];
  std::memcpy(got, out.data() + 1, sizeof got);
  CHECK(got[1] == -2.5);
  convert(std::span(raw).subspan(1), DType::f32, std::span(raw).subspan(1), DType::f32);
  CHECK(std::memcmp(raw.data() + 1, values, sizeof values) == 0);
}

TEST_CASE("convert refuses lengths that differ") {
  std::vector<std::byte> a(8), b(8);
  CHECK(error_of([&] { convert(a, DType::f32, b, DType::f64); }) == ErrorKind::internal);
  convert({}, DType::f32, {}, DType::f64);
}
