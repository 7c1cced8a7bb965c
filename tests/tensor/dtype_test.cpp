#include "tensor/dtype.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using hf::test::error_of;

TEST_CASE("each dtype is found by its name and has its size") {
  const std::pair<DType, std::size_t> rows[] = {
      {DType::f64, 8}, {DType::f32, 4}, {DType::f16, 2},    {DType::bf16, 2}, {DType::i64, 8},
      {DType::i32, 4}, {DType::i16, 2}, {DType::i8, 1},     {DType::u64, 8},  {DType::u32, 4},
      {DType::u16, 2}, {DType::u8, 1},  {DType::boolean, 1}};
  for (const auto& [dtype, bytes] : rows) {
    CHECK(dtype_named(name_of(dtype)) == dtype);
    CHECK(size_of(dtype) == bytes);
  }
}

TEST_CASE("only the floating-point dtypes are floats") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) CHECK(is_float(dtype));
  for (const DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32, DType::u16,
                            DType::u8, DType::boolean})
    CHECK_FALSE(is_float(dtype));
}

TEST_CASE("a dtype that is not known is a usage error, shown escaped") {
  const auto caught = error_of([] { dtype_named("fp\x1b[31m"); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("\"fp\\x1b[31m\""));
}
