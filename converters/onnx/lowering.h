// A graph as ONNX operators: one overload an op, reached by consume() (graph/consume.h). Composites without
// an overload are taken apart first, by their definitions.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "converters/onnx/initializers.h"
#include "converters/onnx/node_writer.h"
#include "converters/onnx/size_writer.h"
#include "graph/graph.h"

namespace hf::onnx {

class Lowering {
 public:
  // `graph` has no composite but those that lowers_whole() names.
  Lowering(const Graph& graph, const Checkpoint& checkpoint, ::onnx::GraphProto& out,
           Initializers& initializers);
  void run();
  // Whether ONNX has an operator, or an idiom that loaders fuse, for the whole op.
  static bool lowers_whole(const Op& op);

  // lowering.cpp
  void lower(const Input& op, const Node& node, std::size_t i);
  void lower(const Weight& op, const Node& node, std::size_t i);
  void lower(const Constant& op, const Node& node, std::size_t i);
  void lower(const Size& op, const Node& node, std::size_t i);
  // lower_math.cpp
  void lower(const Unary& op, const Node& node, std::size_t i);
  void lower(const Binary& op, const Node& node, std::size_t i);
  void lower(const Compare& op, const Node& node, std::size_t i);
  void lower(const Where& op, const Node& node, std::size_t i);
  void lower(const Cast& op, const Node& node, std::size_t i);
  void lower(const MatMul& op, const Node& node, std::size_t i);
  void lower(const Reduce& op, const Node& node, std::size_t i);
  void lower(const ArgMax& op, const Node& node, std::size_t i);
  void lower(const CumSum& op, const Node& node, std::size_t i);
  // lower_layout.cpp
  void lower(const Gather& op, const Node& node, std::size_t i);
  void lower(const Reshape& op, const Node& node, std::size_t i);
  void lower(const Transpose& op, const Node& node, std::size_t i);
  void lower(const Slice& op, const Node& node, std::size_t i);
  void lower(const Concat& op, const Node& node, std::size_t i);
  void lower(const Expand& op, const Node& node, std::size_t i);
  void lower(const Range& op, const Node& node, std::size_t i);
  // lower_layers.cpp
  void lower(const Linear& op, const Node& node, std::size_t i);
  void lower(const LayerNorm& op, const Node& node, std::size_t i);
  void lower(const Softmax& op, const Node& node, std::size_t i);
  // Refused: one file is one device's.
  void lower(const AllReduce& op, const Node& node, std::size_t i);
  void lower(const AllGather& op, const Node& node, std::size_t i);
  // What consume() falls back on; lowers_whole() keeps it from being reached.
  void decompose(const Node& node, std::size_t i);

 private:
  // The ONNX name of a value; a weight or constant becomes an initializer here.
  std::string operand(Value v);
  std::vector<std::string> operands(const Node& node);
  // An operator on the way to node i's value, and the last one, which bears the value's name.
  std::string emit(const char* op_type, const std::vector<std::string>& inputs, const Node& node,
                   Attributes attributes = {});
  void define(std::size_t i, const char* op_type, const std::vector<std::string>& inputs,
              Attributes attributes = {});

  const Shape& shape(Value v) const { return graph_->shape(v); }
  std::string stored_name(const Weight& weight) const;
  std::string weight_key(const Weight& weight) const;
  std::string transposed_weight(Value v, const Node& user);
  void find_weights_used_as_stored();
  void choose_names();
  void write_interface();
  void describe_values();

  const Graph* graph_;
  const Checkpoint* checkpoint_;
  ::onnx::GraphProto* out_;
  Initializers* initializers_;
  NodeWriter nodes_;
  SizeWriter sizes_;
  std::vector<std::string> names_;   // by node: its value's ONNX name, once it has one
  std::vector<std::string> wanted_;  // by node: the name that an output or observed value asks for
  std::set<std::string, std::less<>> used_as_stored_;  // weights that something besides a Linear reads
  std::map<std::string, std::string, std::less<>> transposed_;  // weight key -> output of its Transpose
};

}  // namespace hf::onnx
