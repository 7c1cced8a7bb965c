// Element types, by ONNX's and safetensors' common set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hf {

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

std::size_t size_of(DType dtype);       // bytes an element
std::string_view name_of(DType dtype);  // "fp32", "int64", "bool", …
bool is_float(DType dtype);
DType dtype_named(std::string_view name);  // the inverse of name_of; throws Error{usage}

}  // namespace hf
