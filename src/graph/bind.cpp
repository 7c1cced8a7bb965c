#include "base/error.h"
#include "graph/graph.h"

namespace hf {
namespace {

struct Binder {
  const Symbols& symbols;

  Dim number(const Dim& d) const { return d.evaluate(symbols); }
  Shape numbers(const Shape& shape) const {
    Shape out;
    for (const Dim& d : shape) out.push_back(number(d));
    return out;
  }

  Op bound(const Reshape& op) const { return Reshape{numbers(op.to)}; }
  Op bound(const Expand& op) const { return Expand{numbers(op.to)}; }
  Op bound(const Slice& op) const { return Slice{op.axis, number(op.begin), number(op.end), op.step}; }
  Op bound(const Range& op) const { return Range{number(op.begin), number(op.end)}; }
  Op bound(const Size& op) const {
    return Constant{std::make_shared<const Tensor>(Tensor::scalar(number(op.dim).number()))};
  }
  template <class T>
  Op bound(const T& op) const {
    return op;
  }
};

}  // namespace

Graph bind(const Graph& graph, const Symbols& symbols) {
  const Binder binder{symbols};
  return replay(graph, [&](Graph& out, const Node& node, const std::vector<Value>& inputs) {
    const Op op = std::visit([&](const auto& o) { return binder.bound(o); }, node.op);
    // Sources and collectives state their type; for the others it is inferred anew, which checks the numbers.
    if (std::holds_alternative<AllGather>(op) || std::holds_alternative<Input>(op) ||
        std::holds_alternative<Weight>(op)) {
      out.nodes.push_back({op,
                           inputs,
                           {{node.outputs[0].dtype, binder.numbers(node.outputs[0].shape)}},
                           node.path,
                           node.layer});
      return Value{static_cast<int>(out.nodes.size()) - 1, 0};
    }
    return out.add(op, inputs, node.path, node.layer);
  });
}

}  // namespace hf
