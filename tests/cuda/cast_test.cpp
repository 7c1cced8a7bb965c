#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"
#include "tensor/tensor.h"

using namespace hf;
using namespace hf::runtime::cuda;

namespace {

constexpr DType kAll[] = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                          DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                          DType::u16, DType::u8,  DType::boolean};

}  // namespace

TEST_CASE("every element type becomes every other as the tensor room converts it") {
  Tensor numbers(DType::f64, {300});
  for (std::int64_t i = 0; i < 300; ++i)
    numbers.as<double>()[static_cast<std::size_t>(i)] = 0.37 * static_cast<double>(i % 120);
  for (const DType from : kAll) {
    const Tensor x = converted(numbers.view(), from);
    for (const DType to : kAll) {
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      Tensor y(to, {300});
      REQUIRE(cast(nullptr, from, to, x.bytes().data(), y.bytes().data(), 300));
      const Tensor wanted = converted(x.view(), to);
      CHECK(std::equal(y.bytes().begin(), y.bytes().end(), wanted.bytes().begin()));
    }
  }
}

TEST_CASE("negative numbers are truncated towards zero") {
  const std::vector<float> x{-1.9f, -0.5f, 2.9f};
  std::vector<std::int64_t> y(3);
  REQUIRE(cast(nullptr, DType::f32, DType::i64, x.data(), y.data(), 3));
  CHECK(y == std::vector<std::int64_t>{-1, 0, 2});
}
