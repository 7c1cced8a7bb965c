// An ONNX graph as a Graph: one function an operator (the tables of import_*.cpp), shapes symbolic.
//
// Exporters compute shapes in the graph: Shape, Gather, Concat, Reshape. Such integers are not values of ours
// but expressions over the inputs' sizes (Dims), which Reshape, Expand, Slice and Range then take; only where
// data meets them do they become Size nodes.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converters/onnx/stored_tensors.h"
#include "graph/graph.h"

namespace hf::onnx {

// An integer or bool tensor of rank 0 or 1 whose elements are known as expressions.
struct Integers {
  DType dtype = DType::i64;
  bool scalar = false;
  std::vector<Dim> values;
};

// What an ONNX value is here: one of the two, or integers that became a value as well.
struct Item {
  Item(Value v) : value(v) {}  // NOLINT: most operators make a value
  Item(Integers i) : integers(std::make_shared<const Integers>(std::move(i))) {}  // NOLINT
  Value value;
  std::shared_ptr<const Integers> integers;
};

class Importer;

// One operator on its way in: its inputs and attributes, checked. What does not fit throws Error{integrity},
// what is legal but not supported Error{unsupported}; run() puts the node's name before it.
class Call {
 public:
  Call(Importer& importer, const ::onnx::NodeProto& node, std::string path, int layer)
      : importer_(&importer), node_(&node), path_(std::move(path)), layer_(layer) {}

  std::size_t inputs() const { return static_cast<std::size_t>(node_->input_size()); }
  std::size_t outputs() const { return static_cast<std::size_t>(node_->output_size()); }
  bool has(std::size_t k) const { return k < inputs() && !node_->input(static_cast<int>(k)).empty(); }
  Value value(std::size_t k);  // integers become a value
  const Item& item(std::size_t k) const;
  const Integers* integers(std::size_t k) const;  // null where they are not known
  const Integers& known(std::size_t k) const;     // Error{unsupported} where they are not known
  std::int64_t number(std::size_t k) const;       // one known integer that is no expression
  const Shape& shape(std::size_t k);
  DType dtype(std::size_t k);
  int opset() const;

  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  float number(std::string_view name, float fallback) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  const ::onnx::AttributeProto* attribute(std::string_view name) const;

  Value add(Op op, std::vector<Value> inputs);
  Value constant(Tensor value) { return add(Constant{std::make_shared<const Tensor>(std::move(value))}, {}); }
  Value materialized(const Integers& integers);
  Value cast(Value v, DType to);
  const Graph& graph() const;
  // An axis as ONNX counts it, from either end.
  static int axis(std::int64_t value, std::size_t rank);

 private:
  Importer* importer_;
  const ::onnx::NodeProto* node_;
  std::string path_;
  int layer_;
};

using Import = std::vector<Item> (*)(Call&);

// A row an operator of ai.onnx. An attribute that it does not list is refused: it would change the meaning.
struct Operator {
  std::string_view name;
  std::string_view attributes;  // separated by spaces
  Import import;
};
std::span<const Operator> math_operators();
std::span<const Operator> layout_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> layer_operators();
const Operator* find_operator(std::string_view name);

class Importer {
 public:
  Importer(const ::onnx::ModelProto& model, const StoredTensors& tensors);
  Graph run();

 private:
  friend class Call;
  void check_opset(const ::onnx::ModelProto& model);
  void check_operators() const;
  void add_inputs();
  void add_node(const ::onnx::NodeProto& node);
  void name_results();
  Item& find(const std::string& name);
  Item from_initializer(const std::string& name);
  void define(const std::string& name, Item item);

  const ::onnx::GraphProto* proto_;
  const StoredTensors* tensors_;
  bool ours_ = false;  // written by us
  int opset_ = 0;
  std::size_t integers_in_all_ = 0;
  Graph graph_;
  std::map<std::string, Item, std::less<>> items_;
};

}  // namespace hf::onnx
