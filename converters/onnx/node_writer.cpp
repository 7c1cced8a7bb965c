#include "converters/onnx/node_writer.h"

#include "graph/op.h"

namespace hf::onnx {

std::string NodeWriter::add(const char* op_type, const std::vector<std::string>& inputs,
                            const std::string& path, Attributes attributes, const std::string& output) {
  std::string name = path + kNameSeparator + op_type;
  const int ordinal = uses_[name]++;
  if (ordinal > 0) name += "_" + std::to_string(ordinal);

  ::onnx::NodeProto& node = *graph_->add_node();
  node.set_name(name);
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output.empty() ? name : output);
  for (const Attribute& attribute : attributes) {
    ::onnx::AttributeProto& proto = *node.add_attribute();
    proto.set_name(attribute.name);
    std::visit(Overloaded{[&](std::int64_t value) {
                            proto.set_type(::onnx::AttributeProto::INT);
                            proto.set_i(value);
                          },
                          [&](float value) {
                            proto.set_type(::onnx::AttributeProto::FLOAT);
                            proto.set_f(value);
                          },
                          [&](const std::vector<std::int64_t>& values) {
                            proto.set_type(::onnx::AttributeProto::INTS);
                            for (const std::int64_t value : values) proto.add_ints(value);
                          }},
               attribute.value);
  }
  return node.output(0);
}

}  // namespace hf::onnx
