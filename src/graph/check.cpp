#include <set>

#include "base/error.h"
#include "base/escape.h"
#include "graph/graph.h"

namespace hf {
namespace {

[[noreturn]] void unsound(const std::string& what) { throw Error(ErrorKind::internal, "graph: " + what); }

std::string shown(const Graph& graph, std::size_t i) {
  return "node " + std::to_string(i) + " (" + std::string(name_of(graph.nodes[i].op)) + " at " +
         in_quotes(graph.nodes[i].path) + ")";
}

void check_value(const Graph& graph, Value v, std::size_t before, const std::string& user) {
  if (v.node < 0 || static_cast<std::size_t>(v.node) >= before)
    unsound(user + " uses value " + std::to_string(v.node) + ", which does not stand before it");
  if (v.output < 0 || static_cast<std::size_t>(v.output) >= graph.at(v).outputs.size())
    unsound(user + " uses output " + std::to_string(v.output) + " of " +
            shown(graph, static_cast<std::size_t>(v.node)));
}

void check_node(const Graph& graph, std::size_t i) {
  const Node& node = graph.nodes[i];
  for (const Value v : node.inputs)
    if (v.present()) check_value(graph, v, i, shown(graph, i));
  const bool stated = std::holds_alternative<Input>(node.op) || std::holds_alternative<Weight>(node.op) ||
                      std::holds_alternative<AllGather>(node.op);
  if (node.outputs.size() != 1)
    unsound(shown(graph, i) + " has " + std::to_string(node.outputs.size()) + " outputs");
  if (stated) return;
  std::vector<const TensorType*> types;
  for (const Value v : node.inputs) types.push_back(v.present() ? &graph.type(v) : nullptr);
  const TensorType type = with_context(shown(graph, i), [&] { return infer(node.op, types); });
  if (!(type == node.outputs[0]))
    unsound(shown(graph, i) + " says " + to_string(node.outputs[0].shape) + ", its op gives " +
            to_string(type.shape));
}

void check_names(const Graph& graph, const std::vector<Named>& list, std::set<std::string>& seen,
                 const std::string& what) {
  for (const Named& n : list) {
    if (n.name.empty() || !seen.insert(n.name).second)
      unsound(what + " " + in_quotes(n.name) + " is not unique");
    check_value(graph, n.value, graph.nodes.size(), what + " " + in_quotes(n.name));
  }
}

}  // namespace

void check(const Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) check_node(graph, i);
  std::set<std::string> inputs, results, observed;
  for (const Value v : graph.inputs) {
    check_value(graph, v, graph.nodes.size(), "an input");
    if (!std::holds_alternative<Input>(graph.at(v).op))
      unsound("an input is a " + std::string(name_of(graph.at(v).op)));
    if (!inputs.insert(graph.input_name(v)).second)
      unsound("input " + in_quotes(graph.input_name(v)) + " is not unique");
  }
  check_names(graph, graph.outputs, results, "output");
  check_names(graph, graph.observed, observed, "observed value");
  for (const State& s : graph.states)
    check_value(graph, s.present, graph.nodes.size(), "state " + in_quotes(s.name));
}

}  // namespace hf
