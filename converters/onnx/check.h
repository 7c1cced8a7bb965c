// Proof that what was written is sound, before it gets its final name.
#pragma once
#include "converters/onnx/proto.h"

namespace hf::onnx {

// Our own rules, at every opset: each name is made once, before it is used; each initializer's bytes are as
// many as its shape says; external ones lie in a file of `data_bytes`, at multiples of 4096, in order,
// without overlap. Then, up to the opset that the ONNX library knows, its checker and strict shape inference.
// Throws Error{internal}: a fault here is ours.
void check_written(const ::onnx::ModelProto& model, std::uint64_t data_bytes);

}  // namespace hf::onnx
