// Appends operators to an ONNX graph and names what they make.
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "converters/onnx/initializers.h"

namespace hf::onnx {

struct Attribute {
  const char* name;
  std::variant<std::int64_t, float, std::vector<std::int64_t>> value;
};
using Attributes = std::initializer_list<Attribute>;

class NodeWriter {
 public:
  NodeWriter(::onnx::GraphProto& graph, Initializers& initializers)
      : graph_(&graph), initializers_(&initializers) {}

  // Appends an operator under `path` and returns the name of its output. That is the node's own name, which
  // is the path and the operator ("encoder.layer.0.output/Add"), from the second on with an ordinal
  // ("…/Add_1"); or `output`, where it is not empty.
  std::string add(const char* op_type, const std::vector<std::string>& inputs, const std::string& path,
                  Attributes attributes = {}, const std::string& output = {});

  std::string constant(const Tensor& value) { return initializers_->constant(value); }
  std::string integer(std::int64_t value) { return constant(Tensor::scalar(value)); }
  std::string integers(const std::vector<std::int64_t>& values) { return constant(Tensor::vector(values)); }

 private:
  ::onnx::GraphProto* graph_;
  Initializers* initializers_;
  std::map<std::string, int, std::less<>> uses_;
};

}  // namespace hf::onnx
