#include "runtime/session/layout.h"

#include "runtime/session/weights.h"

namespace hf::runtime {
namespace {

const std::vector<int> kTransposed{1, 0};

// Whether the weight is a transposition of what can be read in place.
bool lies_transposed(const Weight& weight, DType dtype, const Checkpoint& checkpoint, Device& device) {
  if (weight.ref.view.permutation != kTransposed) return false;
  const std::string name = find_name(checkpoint, weight.ref);
  if (name.empty()) return false;  // told where it is loaded
  View view = weight.ref.view;
  view.permutation.clear();
  const TensorView stored = checkpoint.view(name);
  const Sizes& sizes = view.reshape.empty() ? stored.shape : view.reshape;
  return sizes.size() == 2 && elements(sizes) == stored.size() &&
         in_place(device, stored, view, dtype) != nullptr;
}

Value as_stored(Graph& out, const Node& node) {
  Weight weight = std::get<Weight>(node.op);
  weight.ref.view.permutation.clear();
  const TensorType& type = node.outputs[0];
  return out.add_source(weight, {type.dtype, {type.shape[1], type.shape[0]}}, node.path, node.layer);
}

}  // namespace

Graph with_stored_layout(const Graph& graph, const Checkpoint& checkpoint, Device& device) {
  Graph out = replay(graph, [&](Graph& out, const Node& node, const std::vector<Value>& inputs) {
    if (std::holds_alternative<Linear>(node.op)) {
      const Node& source = graph.at(node.inputs[1]);
      const auto* weight = std::get_if<Weight>(&source.op);
      if (weight != nullptr && lies_transposed(*weight, source.outputs[0].dtype, checkpoint, device)) {
        const Value stored = as_stored(out, source);
        const Value product = out.add(MatMul{}, {inputs[0], stored}, node.path, node.layer);
        if (inputs.size() < 3) return product;
        return out.add(Binary{Binary::add}, {product, inputs[2]}, node.path, node.layer);
      }
    }
    out.nodes.push_back(node);
    out.nodes.back().inputs = inputs;
    return Value{static_cast<int>(out.nodes.size()) - 1, 0};
  });
  return pruned(out);
}

}  // namespace hf::runtime
