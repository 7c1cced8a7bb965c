#include "converters/onnx/lowering.h"

#include "base/error.h"
#include "graph/consume.h"

namespace hf::onnx {
namespace {

template <class T>
concept LoweredWhole = requires(Lowering& lowering, const T& op, const Node& node, std::size_t i) {
  lowering.lower(op, node, i);
};

void describe(const TensorType& type, const std::string& name, ::onnx::ValueInfoProto& info) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(to_onnx(type.dtype));
  tensor.mutable_shape();  // a scalar has a shape without sizes; no shape would mean an unknown one
  for (const Dim& dim : type.shape) {
    auto& size = *tensor.mutable_shape()->add_dim();
    if (dim.is_number())
      size.set_dim_value(dim.number());
    else
      size.set_dim_param(dim.to_string());
  }
}

bool is_source_node(const Node& node) {
  return std::visit([](const auto& op) { return is_source<std::decay_t<decltype(op)>>; }, node.op);
}

}  // namespace

Lowering::Lowering(const Graph& graph, const Checkpoint& checkpoint, ::onnx::GraphProto& out,
                   Initializers& initializers)
    : graph_(&graph),
      checkpoint_(&checkpoint),
      out_(&out),
      initializers_(&initializers),
      nodes_(out, initializers),
      sizes_(nodes_, graph),
      names_(graph.nodes.size()),
      wanted_(graph.nodes.size()) {}

bool Lowering::lowers_whole(const Op& op) {
  return std::visit([](const auto& o) { return LoweredWhole<std::decay_t<decltype(o)>>; }, op);
}

void Lowering::run() {
  find_weights_used_as_stored();
  choose_names();
  for (std::size_t i = 0; i < graph_->nodes.size(); ++i) consume(*this, graph_->nodes[i], i);
  write_interface();
  describe_values();
}

// A weight that only Linears read is stored as MatMul wants it, [in, out]. One that something else reads as
// it is (a tied embedding) stays so, and Linears transpose it in the graph.
void Lowering::find_weights_used_as_stored() {
  const auto mark = [&](Value v) {
    if (!v.present()) return;
    if (const auto* weight = std::get_if<Weight>(&graph_->at(v).op))
      used_as_stored_.insert(weight_key(*weight));
  };
  for (const Node& node : graph_->nodes)
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (!(std::holds_alternative<Linear>(node.op) && k == 1)) mark(node.inputs[k]);
  for (const Named& n : graph_->outputs) mark(n.value);
  for (const Named& n : graph_->observed) mark(n.value);
}

// A value that is observed or an output bears that name itself; its other names come from Identity nodes.
void Lowering::choose_names() {
  const auto ask = [&](const Named& n) {
    const auto node = static_cast<std::size_t>(n.value.node);
    if (!is_source_node(graph_->nodes[node]) && wanted_[node].empty()) wanted_[node] = n.name;
  };
  for (const Named& n : graph_->observed) ask(n);
  for (const Named& n : graph_->outputs) ask(n);
}

void Lowering::write_interface() {
  const auto name_it = [&](const Named& n) {
    const std::string value = operand(n.value);
    if (value != n.name) nodes_.add("Identity", {value}, graph_->at(n.value).path, {}, n.name);
  };
  for (const Named& n : graph_->observed) name_it(n);
  for (const Named& n : graph_->outputs) {
    name_it(n);
    describe(graph_->type(n.value), n.name, *out_->add_output());
  }
}

// The types of values between, which loaders would otherwise have to infer.
void Lowering::describe_values() {
  std::set<std::string, std::less<>> outputs;
  for (const Named& n : graph_->outputs) outputs.insert(n.name);
  for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
    const Node& node = graph_->nodes[i];
    if (!is_source_node(node) && !outputs.contains(names_[i]))
      describe(node.outputs[0], names_[i], *out_->add_value_info());
  }
}

std::string Lowering::operand(Value v) {
  if (!v.present()) return {};
  std::string& name = names_[static_cast<std::size_t>(v.node)];
  if (!name.empty()) return name;
  const Node& node = graph_->at(v);
  if (const auto* weight = std::get_if<Weight>(&node.op))
    return name = initializers_->weight(stored_name(*weight), weight->ref.view, node.outputs[0].dtype);
  if (const auto* constant = std::get_if<Constant>(&node.op))
    return name = initializers_->constant(*constant->value);
  if (const auto* size = std::get_if<Size>(&node.op)) return name = sizes_.scalar(size->dim);
  throw Error(ErrorKind::internal, "node " + std::to_string(v.node) + " is used before it is computed");
}

std::vector<std::string> Lowering::operands(const Node& node) {
  std::vector<std::string> out;
  for (const Value v : node.inputs) out.push_back(operand(v));
  return out;
}

std::string Lowering::emit(const char* op_type, const std::vector<std::string>& inputs, const Node& node,
                           Attributes attributes) {
  return nodes_.add(op_type, inputs, node.path, attributes);
}

void Lowering::define(std::size_t i, const char* op_type, const std::vector<std::string>& inputs,
                      Attributes attributes) {
  names_[i] = nodes_.add(op_type, inputs, graph_->nodes[i].path, attributes, wanted_[i]);
}

void Lowering::decompose(const Node& node, std::size_t) {
  throw Error(ErrorKind::internal, node.path + ": " + std::string(name_of(node.op)) + " was not taken apart");
}

void Lowering::lower(const Input& op, const Node& node, std::size_t i) {
  names_[i] = op.name;
  describe(node.outputs[0], op.name, *out_->add_input());
}

// Initializers are made by the first that uses them: a weight may be needed in another layout only.
void Lowering::lower(const Weight&, const Node&, std::size_t) {}
void Lowering::lower(const Constant&, const Node&, std::size_t) {}
void Lowering::lower(const Size&, const Node&, std::size_t) {}

}  // namespace hf::onnx
