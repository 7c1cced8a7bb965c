#include "base/error.h"
#include "base/escape.h"
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

  Value emit(Graph& out, const Node& node, const std::vector<Value>& inputs) const {
    Op op = std::visit([&](const auto& o) { return bound(o); }, node.op);
    // Sources and collectives state their type; for the others it is inferred anew, which checks the numbers.
    if (!std::holds_alternative<AllGather>(op) && !std::holds_alternative<Input>(op) &&
        !std::holds_alternative<Weight>(op))
      return out.add(std::move(op), inputs, node.path, node.layer);
    const TensorType& type = node.outputs[0];
    out.nodes.push_back({std::move(op), inputs, {{type.dtype, numbers(type.shape)}}, node.path, node.layer});
    return {static_cast<int>(out.nodes.size()) - 1, 0};
  }

  std::string sizes() const {
    std::string out;
    for (const auto& [name, value] : symbols)
      out += (out.empty() ? "" : ", ") + escaped(name) + " " + std::to_string(value);
    return out;
  }
};

}  // namespace

Graph bind_symbols(const Graph& graph, const Symbols& symbols) {
  const Binder binder{symbols};
  for (const auto& [name, value] : symbols)
    if (value < 0)
      throw Error(ErrorKind::usage,
                  escaped(name) + " is " + std::to_string(value) + ", at least 0 is expected");
  return replay(graph, [&](Graph& out, const Node& node, const std::vector<Value>& inputs) {
    try {
      return binder.emit(out, node, inputs);
    } catch (const Error& error) {
      // The graph is sound for some sizes, so it is these that do not fit: a sequence longer than a table.
      if (error.kind() != ErrorKind::internal) throw;
      throw Error(ErrorKind::usage, "the model has no room for " + binder.sizes() + ": " + error.what());
    }
  });
}

}  // namespace hf
