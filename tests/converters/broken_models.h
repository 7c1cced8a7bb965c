// Small ONNX models, valid until a test breaks them.
#pragma once
#include <string>
#include <vector>

#include "base/file.h"
#include "converters/onnx/onnx.h"
#include "converters/onnx/proto.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace hf::test {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

inline NodeProto& add_node(ModelProto& model, const std::string& op_type,
                           const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op_type);
  node.set_name("node" + std::to_string(model.graph().node_size()));
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

inline void set_integer(NodeProto& node, const std::string& name, std::int64_t value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INT);
  attribute.set_i(value);
}

inline TensorProto& add_tensor(ModelProto& model, const std::string& name, std::vector<std::int64_t> dims,
                               const std::vector<float>& values) {
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  for (const std::int64_t d : dims) tensor.add_dims(d);
  for (const float v : values) tensor.add_float_data(v);
  return tensor;
}

inline void add_integers(ModelProto& model, const std::string& name,
                         const std::vector<std::int64_t>& values) {
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t v : values) tensor.add_int64_data(v);
}

// x [n, 3] -> y, which `Add`s w [3]; tests break it.
inline ModelProto valid() {
  ModelProto model;
  model.set_ir_version(8);
  auto& opset = *model.add_opset_import();
  opset.set_version(17);
  auto& x = *model.mutable_graph()->add_input();
  x.set_name("x");
  auto& type = *x.mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("n");
  type.mutable_shape()->add_dim()->set_dim_value(3);
  add_tensor(model, "w", {3}, {1, 2, 3});
  add_node(model, "Add", {"x", "w"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  return model;
}

inline NodeProto& first_node(ModelProto& model) { return *model.mutable_graph()->mutable_node(0); }
inline TensorProto& weight(ModelProto& model) { return *model.mutable_graph()->mutable_initializer(0); }

inline Model read_bytes(const TempDir& dir, const std::string& bytes) {
  write_file(dir / "m.onnx", bytes);
  return hf::onnx::read(dir / "m.onnx");
}
inline Model read_model(const TempDir& dir, const ModelProto& model) {
  return read_bytes(dir, model.SerializeAsString());
}
inline Graph read_graph(const ModelProto& model) {
  const TempDir dir;
  return read_model(dir, model).parts.at(0).graph;
}
inline Caught error_in(const ModelProto& model) {
  return error_of([&] { read_graph(model); });
}

}  // namespace hf::test
