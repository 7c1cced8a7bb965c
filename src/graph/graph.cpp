#include "graph/graph.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"

namespace hf {

Value Graph::add(Op op, std::vector<Value> inputs, std::string path, int layer) {
  while (!inputs.empty() && !inputs.back().present()) inputs.pop_back();
  std::vector<const TensorType*> types;
  types.reserve(inputs.size());
  for (const Value v : inputs) types.push_back(v.present() ? &type(v) : nullptr);
  TensorType result;
  try {
    result = infer(op, types);
  } catch (const Error& error) {
    throw Error(ErrorKind::internal,
                (path.empty() ? "" : escaped(path) + ": ") + std::string(name_of(op)) + ": " + error.what());
  }
  nodes.push_back({std::move(op), std::move(inputs), {std::move(result)}, std::move(path), layer});
  return {static_cast<int>(nodes.size()) - 1, 0};
}

Value Graph::add_source(Op op, TensorType type, std::string path, int layer) {
  const bool is_input = std::holds_alternative<Input>(op);
  nodes.push_back({std::move(op), {}, {std::move(type)}, std::move(path), layer});
  const Value v{static_cast<int>(nodes.size()) - 1, 0};
  if (is_input) inputs.push_back(v);
  return v;
}

Value Graph::find_output(std::string_view name) const {
  const auto at =
      std::find_if(outputs.begin(), outputs.end(), [&](const Named& n) { return n.name == name; });
  return at == outputs.end() ? Value{} : at->value;
}

Graph pruned(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  const auto need = [&](Value v) {
    if (v.present()) needed[static_cast<std::size_t>(v.node)] = true;
  };
  for (const Value v : graph.inputs) need(v);
  for (const Named& n : graph.outputs) need(n.value);
  for (const Named& n : graph.observed) need(n.value);
  for (const State& s : graph.states) {
    need(s.past);
    need(s.present);
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const Value v : graph.nodes[i].inputs) need(v);
  std::size_t at = 0;
  return replay(graph, [&](Graph& out, const Node& node, const std::vector<Value>& inputs) {
    if (!needed[at++]) return Value{};
    out.nodes.push_back(node);
    out.nodes.back().inputs = inputs;
    return Value{static_cast<int>(out.nodes.size()) - 1, 0};
  });
}

Symbols match_inputs(const Graph& graph, std::span<const Sizes> sizes) {
  if (sizes.size() != graph.inputs.size())
    throw Error(ErrorKind::usage, std::to_string(sizes.size()) + " inputs are given, the graph has " +
                                      std::to_string(graph.inputs.size()));
  Symbols symbols;
  for (int round = 0; round < 2;
       ++round) {  // plain symbols first: an expression may use one of a later input
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Shape& shape = graph.shape(graph.inputs[i]);
      const std::string& name = graph.input_name(graph.inputs[i]);
      bool fits = shape.size() == sizes[i].size();
      for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
        std::vector<std::string> names;
        shape[axis].collect_symbols(names);
        if (round == 0 && names.size() == 1 && shape[axis] == Dim::symbol(names[0]))
          symbols.try_emplace(names[0], sizes[i][axis]);
        if (round == 1) fits = shape[axis].evaluate(symbols) == sizes[i][axis];
      }
      if (!fits)
        throw Error(ErrorKind::usage, "input " + in_quotes(name) + ": has shape " + to_string(sizes[i]) +
                                          ", " + to_string(shape) + " is expected");
    }
  }
  return symbols;
}

}  // namespace hf
