// The dtypes of the format that hfkit's tensors have.
#pragma once
#include <string_view>

#include "tensor/dtype.h"

namespace hf::safetensors {

struct DTypeRow {
  std::string_view name;
  DType dtype;
};

inline constexpr DTypeRow kDTypes[] = {
    {"F64", DType::f64},      {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16},
    {"I64", DType::i64},      {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},
    {"U64", DType::u64},      {"U32", DType::u32}, {"U16", DType::u16}, {"U8", DType::u8},
    {"BOOL", DType::boolean},
};

inline const DTypeRow* find_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes)
    if (row.name == name) return &row;
  return nullptr;
}

inline std::string_view dtype_name(DType dtype) {
  for (const DTypeRow& row : kDTypes)
    if (row.dtype == dtype) return row.name;
  return {};
}

}  // namespace hf::safetensors
