// A model, or a part of one, as nodes in execution order.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"

namespace hf {

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

// One output of a node. A default Value is an optional input that is absent.
struct Value {
  int node = -1;
  int output = 0;
  bool present() const { return node >= 0; }
  bool operator==(const Value&) const = default;
};

struct Node {
  Op op;
  std::vector<Value> inputs;
  std::vector<TensorType> outputs;
  std::string path;  // where in the checkpoint's names it stands: "encoder.layer.0.attention.self"
  int layer = -1;    // which repeated block it belongs to; -1 outside them
};

struct Named {
  std::string name;
  Value value;
};

// A key/value cache: a graph input that holds the past (absent in a graph without past) and the value that
// replaces it.
struct State {
  enum Kind { append, fixed };  // fixed: computed once (cross-attention)
  std::string name;
  Value past, present;
  int axis = 2;
  Kind kind = append;
};

class Graph {
 public:
  std::vector<Node> nodes;
  std::vector<Value> inputs;    // the Input nodes, in the order that callers see
  std::vector<Named> outputs;   // likewise
  std::vector<Named> observed;  // intermediate values worth comparing: "hidden_states.3"
  std::vector<State> states;

  const Node& at(Value v) const { return nodes[static_cast<std::size_t>(v.node)]; }
  const TensorType& type(Value v) const { return at(v).outputs[static_cast<std::size_t>(v.output)]; }
  const Shape& shape(Value v) const { return type(v).shape; }

  // Appends a node; infers and checks the type of its output. Throws Error{internal} naming path and op where
  // the inputs do not fit: an arch file or an imported graph is wrong.
  Value add(Op op, std::vector<Value> inputs, std::string path = {}, int layer = -1);
  // Appends a source whose type is stated (Input, Weight); Input joins `inputs`.
  Value add_source(Op op, TensorType type, std::string path = {}, int layer = -1);

  const std::string& input_name(Value v) const { return std::get<Input>(at(v).op).name; }
  Value find_output(std::string_view name) const;  // absent where there is none
};

// The type of an op's only output.
TensorType infer(const Op& op, std::span<const TensorType* const> inputs);

// Writes the meaning of a composite out of primitives at the end of `out`; returns the result.
Value decompose(Graph& out, const Op& op, std::span<const Value> inputs, const std::string& path, int layer);
// The graph with each composite replaced by its definition, except those that `keep` returns true for.
Graph decompose(const Graph& graph, const std::function<bool(const Op&)>& keep = {});

// The graph with its symbols given numbers, Size nodes folded: what is planned and run. Comes last. Throws
// Error{usage} where a symbol has no number, or the numbers do not fit: a sequence longer than the positions.
Graph bind_symbols(const Graph& graph, const Symbols& symbols);
// The symbols' numbers from the sizes of actual inputs, in the order of graph.inputs. Throws Error{usage}
// naming the input where a size contradicts the graph or another input.
Symbols match_inputs(const Graph& graph, std::span<const Sizes> sizes);

// One rank's graph for tensor parallelism over `ranks`: weights narrowed, all-reduces and all-gathers placed.
// Throws Error{usage} with a sentence where a size does not divide, or a split makes no sense.
Graph shard(const Graph& graph, int rank, int ranks);

// Without the nodes that no output, observed value or state needs. Inputs always stay.
Graph pruned(const Graph& graph);

// Throws Error{internal} where the graph is not sound: order, types, names.
void check(const Graph& graph);

std::string dump(const Graph& graph);  // one line a node; deterministic, for golden tests and eyes

// Where each value of a bound graph lives in one arena. Views (Reshape) share their input's place; inputs,
// weights and constants live elsewhere.
struct MemoryPlan {
  std::vector<std::int64_t> offset;  // by node; -1: not in the arena
  std::int64_t bytes = 0;            // the arena: the peak of activations
  std::int64_t unplanned = 0;        // what one buffer a value would take
};
MemoryPlan plan_memory(const Graph& graph);

// Replays `graph` into a new one. `emit(out, node, inputs)` gets each node with its inputs already mapped,
// adds what it likes and returns the new value; named inputs, outputs, observed values and states follow.
template <class Emit>
Graph replay(const Graph& graph, Emit&& emit) {
  Graph out;
  std::vector<Value> mapped(graph.nodes.size());
  const auto map = [&](Value v) { return v.present() ? mapped[static_cast<std::size_t>(v.node)] : v; };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<Value> inputs;
    for (const Value v : graph.nodes[i].inputs) inputs.push_back(map(v));
    mapped[i] = emit(out, graph.nodes[i], inputs);
  }
  out.inputs.clear();
  for (const Value v : graph.inputs) out.inputs.push_back(map(v));
  for (const Named& n : graph.outputs) out.outputs.push_back({n.name, map(n.value)});
  for (const Named& n : graph.observed) out.observed.push_back({n.name, map(n.value)});
  for (State s : graph.states) {
    s.past = map(s.past);
    s.present = map(s.present);
    out.states.push_back(std::move(s));
  }
  return out;
}

}  // namespace hf
