#include "converters/onnx/proto.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace hf::onnx {
namespace {

using ::onnx::TensorProto;

struct Row {
  DType ours;
  int theirs;
};
constexpr std::array kTypes{Row{DType::f64, TensorProto::DOUBLE},  Row{DType::f32, TensorProto::FLOAT},
                            Row{DType::f16, TensorProto::FLOAT16}, Row{DType::bf16, TensorProto::BFLOAT16},
                            Row{DType::i64, TensorProto::INT64},   Row{DType::i32, TensorProto::INT32},
                            Row{DType::i16, TensorProto::INT16},   Row{DType::i8, TensorProto::INT8},
                            Row{DType::u64, TensorProto::UINT64},  Row{DType::u32, TensorProto::UINT32},
                            Row{DType::u16, TensorProto::UINT16},  Row{DType::u8, TensorProto::UINT8},
                            Row{DType::boolean, TensorProto::BOOL}};

}  // namespace

int to_onnx(DType dtype) {
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(), [&](const Row& r) { return r.ours == dtype; });
  if (row == kTypes.end()) throw Error(ErrorKind::internal, "an element type without an ONNX number");
  return row->theirs;
}

std::optional<DType> from_onnx(std::int32_t type) {
  const auto* row =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const Row& r) { return r.theirs == type; });
  return row == kTypes.end() ? std::nullopt : std::optional(row->ours);
}

}  // namespace hf::onnx
