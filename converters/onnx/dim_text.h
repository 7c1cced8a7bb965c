#pragma once
#include <string_view>

#include "tensor/dim.h"

namespace hf::onnx {

// The inverse of Dim::to_string, for a dim_param: "past_sequence_length + sequence_length", "(2*n // 3)". A
// text that is no such expression is a symbol of that name, as ONNX has it.
Dim parse_dim(std::string_view text);

}  // namespace hf::onnx
