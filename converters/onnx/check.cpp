#include "converters/onnx/check.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <set>
#include <string>

#include "base/error.h"
#include "base/escape.h"

namespace hf::onnx {
namespace {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

[[noreturn]] void wrong(const std::string& what) {
  throw Error(ErrorKind::internal, "the ONNX model is not sound: " + what);
}

class Names {
 public:
  void make(const std::string& name) {
    if (name.empty() || !known_.insert(name).second) wrong("name " + in_quotes(name) + " is made twice");
  }
  void use(const std::string& name) const {
    if (!name.empty() && !known_.contains(name))
      wrong("name " + in_quotes(name) + " is used before it is made");
  }

 private:
  std::set<std::string, std::less<>> known_;
};

std::uint64_t stated_bytes(const TensorProto& tensor) {
  const auto dtype = from_onnx(tensor.data_type());
  if (!dtype) wrong("initializer " + in_quotes(tensor.name()) + " has no element type");
  const Sizes sizes(tensor.dims().begin(), tensor.dims().end());
  return static_cast<std::uint64_t>(elements(sizes)) * size_of(*dtype);
}

// Checks an external initializer that begins at or after `end`; returns where it ends.
std::uint64_t check_external(const TensorProto& tensor, std::uint64_t end, std::uint64_t data_bytes) {
  std::uint64_t offset = 0, length = 0;
  for (const auto& pair : tensor.external_data()) {
    if (pair.key() == "offset") offset = std::stoull(pair.value());
    if (pair.key() == "length") length = std::stoull(pair.value());
  }
  if (offset % 4096 != 0 || offset < end || offset + length > data_bytes || length != stated_bytes(tensor))
    wrong("initializer " + in_quotes(tensor.name()) + " lies at " + std::to_string(offset) + "+" +
          std::to_string(length) + " of " + std::to_string(data_bytes) + " bytes");
  return offset + length;
}

void check_structure(const GraphProto& graph, std::uint64_t data_bytes) {
  Names values, nodes;
  std::uint64_t end = 0;
  for (const auto& input : graph.input()) values.make(input.name());
  for (const TensorProto& tensor : graph.initializer()) {
    values.make(tensor.name());
    if (tensor.data_location() == TensorProto::EXTERNAL)
      end = check_external(tensor, end, data_bytes);
    else if (tensor.raw_data().size() != stated_bytes(tensor))
      wrong("initializer " + in_quotes(tensor.name()) + " has " + std::to_string(tensor.raw_data().size()) +
            " bytes");
  }
  if (end != data_bytes) wrong("the data file does not end with its last tensor");
  for (const auto& node : graph.node()) {
    nodes.make(node.name());
    for (const std::string& input : node.input()) values.use(input);
    for (const std::string& output : node.output()) values.make(output);
  }
  for (const auto& output : graph.output()) values.use(output.name());
}

// The library would look for the data file, which has no name yet: external initializers become inputs.
ModelProto without_external(const ModelProto& model) {
  ModelProto out = model;
  out.mutable_graph()->clear_initializer();
  for (const TensorProto& tensor : model.graph().initializer()) {
    if (tensor.data_location() != TensorProto::EXTERNAL) {
      *out.mutable_graph()->add_initializer() = tensor;
      continue;
    }
    auto& input = *out.mutable_graph()->add_input();
    input.set_name(tensor.name());
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    type.mutable_shape();
    for (const std::int64_t size : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  return out;
}

void check_by_library(const ModelProto& model) {
  const auto ranges = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto known = ranges.find("");
  for (const auto& opset : model.opset_import())
    if (known == ranges.end() || opset.version() > known->second.second) return;
  ModelProto checked = without_external(model);
  try {
    ::onnx::checker::check_model(checked);
    const ::onnx::ShapeInferenceOptions strict{true, 1, true};
    ::onnx::shape_inference::InferShapes(checked, ::onnx::OpSchemaRegistry::Instance(), strict);
  } catch (const std::exception& error) {
    wrong(escaped(error.what(), 2000));
  }
}

}  // namespace

void check_written(const ModelProto& model, std::uint64_t data_bytes) {
  check_structure(model.graph(), data_bytes);
  check_by_library(model);
}

}  // namespace hf::onnx
