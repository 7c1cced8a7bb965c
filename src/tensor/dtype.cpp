#include "tensor/dtype.h"

#include <string>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

struct Row {
  DType dtype;
  std::size_t bytes;
  std::string_view name;
};

constexpr Row kRows[] = {
    {DType::f64, 8, "fp64"},     {DType::f32, 4, "fp32"},   {DType::f16, 2, "fp16"},
    {DType::bf16, 2, "bf16"},    {DType::i64, 8, "int64"},  {DType::i32, 4, "int32"},
    {DType::i16, 2, "int16"},    {DType::i8, 1, "int8"},    {DType::u64, 8, "uint64"},
    {DType::u32, 4, "uint32"},   {DType::u16, 2, "uint16"}, {DType::u8, 1, "uint8"},
    {DType::boolean, 1, "bool"},
};

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) { return row(dtype).bytes; }
std::string_view name_of(DType dtype) { return row(dtype).name; }
bool is_float(DType dtype) { return dtype <= DType::bf16; }

DType dtype_named(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return r.dtype;
  throw Error(ErrorKind::usage, "dtype " + in_quotes(name) + " is not known");
}

}  // namespace hf
