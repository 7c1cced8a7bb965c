// ONNX's protobuf messages, and its numbers for our element types. Only files of this folder include it.
#pragma once
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#include <onnx/onnx_pb.h>

#include <optional>

#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace hf::onnx {

inline constexpr int kOpset = 17;
inline constexpr int kIrVersion = 8;

// What stands between a checkpoint path and an operator in the names we give: "encoder.layer.0/MatMul_1".
inline constexpr char kNameSeparator = '/';
// Where the names of constants begin, "constant/int64[0,-1]": such an initializer is no weight.
inline constexpr std::string_view kConstantPrefix = "constant/";
inline constexpr std::string_view kProducer = "hfconvert";

int to_onnx(DType dtype);                           // a TensorProto::DataType
std::optional<DType> from_onnx(std::int32_t type);  // absent where we have no such type

}  // namespace hf::onnx
