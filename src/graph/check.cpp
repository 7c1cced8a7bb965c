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

std::string shown(const TensorType& type) {
  return std::string(name_of(type.dtype)) + " " + to_string(type.shape);
}

void check_type(const Graph& graph, std::size_t i, const TensorType& given) {
  const TensorType& stated = graph.nodes[i].outputs[0];
  if (!(given == stated))
    unsound(shown(graph, i) + " says " + shown(stated) + ", its op gives " + shown(given));
}

void check_value(const Graph& graph, Value v, std::size_t before, const std::string& user) {
  if (v.node < 0 || static_cast<std::size_t>(v.node) >= before)
    unsound(user + " uses value " + std::to_string(v.node) + ", which does not stand before it");
  if (v.output < 0 || static_cast<std::size_t>(v.output) >= graph.at(v).outputs.size())
    unsound(user + " uses output " + std::to_string(v.output) + " of " +
            shown(graph, static_cast<std::size_t>(v.node)));
}

// Its type is stated: all but the size of the axis is the input's.
void check_gather(const Graph& graph, const AllGather& op, std::size_t i) {
  const Node& node = graph.nodes[i];
  if (node.inputs.size() != 1 || !node.inputs[0].present()) unsound(shown(graph, i) + " needs one input");
  TensorType type = graph.type(node.inputs[0]);
  if (op.axis < 0 || static_cast<std::size_t>(op.axis) >= type.shape.size() ||
      type.shape.size() != node.outputs[0].shape.size())
    unsound(shown(graph, i) + " joins axis " + std::to_string(op.axis) + " of " + to_string(type.shape));
  const auto axis = static_cast<std::size_t>(op.axis);
  type.shape[axis] = node.outputs[0].shape[axis];
  check_type(graph, i, type);
}

void check_node(const Graph& graph, std::size_t i) {
  const Node& node = graph.nodes[i];
  for (const Value v : node.inputs)
    if (v.present()) check_value(graph, v, i, shown(graph, i));
  if (node.outputs.size() != 1)
    unsound(shown(graph, i) + " has " + std::to_string(node.outputs.size()) + " outputs");
  const bool source = std::holds_alternative<Input>(node.op) || std::holds_alternative<Weight>(node.op);
  if (source && !node.inputs.empty()) unsound(shown(graph, i) + " is a source but has inputs");
  if (source) return;
  if (const auto* gather = std::get_if<AllGather>(&node.op)) return check_gather(graph, *gather, i);
  std::vector<const TensorType*> types;
  for (const Value v : node.inputs) types.push_back(v.present() ? &graph.type(v) : nullptr);
  TensorType given;
  try {
    given = infer(node.op, types);
  } catch (const Error& error) {
    unsound(shown(graph, i) + ": " + error.what());
  }
  check_type(graph, i, given);
}

void check_names(const Graph& graph, const std::vector<Named>& list, std::set<std::string>& seen,
                 const std::string& what) {
  for (const Named& n : list) {
    if (n.name.empty() || !seen.insert(n.name).second)
      unsound(what + " " + in_quotes(n.name) + " is not unique");
    check_value(graph, n.value, graph.nodes.size(), what + " " + in_quotes(n.name));
  }
}

void check_state(const Graph& graph, const State& s, std::set<std::string>& seen) {
  const std::string user = "state " + in_quotes(s.name);
  if (s.name.empty() || !seen.insert(s.name).second) unsound(user + " is not unique");
  check_value(graph, s.present, graph.nodes.size(), user);
  const std::size_t rank = graph.shape(s.present).size();
  if (s.axis < 0 || static_cast<std::size_t>(s.axis) >= rank)
    unsound(user + " grows along axis " + std::to_string(s.axis) + " of " +
            to_string(graph.shape(s.present)));
  if (!s.past.present()) return;
  check_value(graph, s.past, graph.nodes.size(), user);
  if (!std::holds_alternative<Input>(graph.at(s.past).op)) unsound(user + " has a past that is no input");
  if (graph.type(s.past).dtype != graph.type(s.present).dtype || graph.shape(s.past).size() != rank)
    unsound(user + " turns from " + shown(graph.type(s.past)) + " into " + shown(graph.type(s.present)));
}

}  // namespace

void check(const Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) check_node(graph, i);
  std::set<std::string> inputs, results, observed, states;
  for (const Value v : graph.inputs) {
    check_value(graph, v, graph.nodes.size(), "an input");
    if (!std::holds_alternative<Input>(graph.at(v).op))
      unsound("an input is a " + std::string(name_of(graph.at(v).op)));
    if (graph.input_name(v).empty() || !inputs.insert(graph.input_name(v)).second)
      unsound("input " + in_quotes(graph.input_name(v)) + " is not unique");
  }
  for (const Node& node : graph.nodes)
    if (const auto* input = std::get_if<Input>(&node.op); input != nullptr && !inputs.contains(input->name))
      unsound("input " + in_quotes(input->name) + " is not among those that callers see");
  check_names(graph, graph.outputs, results, "output");
  check_names(graph, graph.observed, observed, "observed value");
  for (const State& s : graph.states) check_state(graph, s, states);
}

}  // namespace hf
