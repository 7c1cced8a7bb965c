// A pattern is a graph itself, whose one input stands for anything: so a composite's definition is its
// pattern.
#include "converters/onnx/recognise.h"

#include <cmath>
#include <optional>

#include "graph/builder.h"

namespace hf::onnx {
namespace {

struct Pattern {
  Graph graph;
  Value root;
  Gelu::Kind kind;
};

Pattern defined(Gelu::Kind kind) {
  Pattern p{{}, {}, kind};
  const Value x = Builder(p.graph).input("x", DType::f32, {Dim::symbol("n")});
  p.root = decompose(p.graph, Gelu{kind}, std::vector{x}, {}, -1);
  return p;
}

// transformers' gelu_python: x 0.5 (1 + erf(x / sqrt 2))
Pattern halved_first() {
  Pattern p{{}, {}, Gelu::erf};
  Builder b(p.graph);
  const Value x = b.input("x", DType::f32, {Dim::symbol("n")});
  const Value half = b.mul(x, b.number(0.5f));
  const Value scaled = b.div(x, b.number(std::sqrt(2.0f)));
  const Value one_more = b.add(b.unary(Unary::erf, scaled), b.number(1));
  p.root = b.mul(half, one_more);
  return p;
}

// transformers' gelu_new: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 pow(x, 3))))
Pattern cubed_by_power() {
  Pattern p{{}, {}, Gelu::tanh};
  Builder b(p.graph);
  const Value x = b.input("x", DType::f32, {Dim::symbol("n")});
  const Value cube = b.mul(b.binary(Binary::power, x, b.number(3)), b.number(0.044715f));
  const Value inner = b.mul(b.add(x, cube), b.number(static_cast<float>(std::sqrt(2 / M_PI))));
  const Value half = b.mul(x, b.number(0.5f));
  const Value one_more = b.add(b.tanh(inner), b.number(1));
  p.root = b.mul(half, one_more);
  return p;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{defined(Gelu::erf), defined(Gelu::tanh), halved_first(),
                                        cubed_by_power()};
  return all;
}

std::optional<double> scalar(const Node& node) {
  const auto* constant = std::get_if<Constant>(&node.op);
  if (constant == nullptr || constant->value->size() != 1 || !is_float(constant->value->dtype()))
    return std::nullopt;
  return converted(constant->value->view(), DType::f64).as<double>()[0];
}

bool commutes(const Op& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary != nullptr && (binary->kind == Binary::add || binary->kind == Binary::multiply);
}

bool same_kind(const Op& a, const Op& b) {
  if (a.index() != b.index()) return false;
  if (const auto* unary = std::get_if<Unary>(&a)) return unary->kind == std::get<Unary>(b).kind;
  if (const auto* binary = std::get_if<Binary>(&a)) return binary->kind == std::get<Binary>(b).kind;
  return false;
}

// Whether the value at `v` is what the pattern says at `p`, with `x` for the pattern's input.
bool matches(const Graph& pattern, Value p, const Graph& graph, Value v, Value& x) {
  const Node &wanted = pattern.at(p), &node = graph.at(v);
  if (std::holds_alternative<Input>(wanted.op)) {
    if (!x.present()) x = v;
    return x == v;
  }
  if (const auto number = scalar(wanted)) {
    const auto got = scalar(node);
    return got && std::abs(*got - *number) <= 1e-3 * std::abs(*number) &&
           (std::abs(*got - *number) <= 1e-6 * std::abs(*number) || graph.type(v).dtype != DType::f32);
  }
  if (!same_kind(wanted.op, node.op) || wanted.inputs.size() != node.inputs.size()) return false;
  const auto all = [&](bool swapped) {
    Value bound = x;
    for (std::size_t k = 0; k < wanted.inputs.size(); ++k)
      if (!matches(pattern, wanted.inputs[k], graph, node.inputs[swapped ? 1 - k : k], bound)) return false;
    x = bound;
    return true;
  };
  return all(false) || (commutes(wanted.op) && all(true));
}

std::optional<Value> find_gelu(Graph& out, const Node& node, Value last) {
  for (const Pattern& pattern : patterns()) {
    Value x;
    if (!same_kind(pattern.graph.at(pattern.root).op, node.op)) continue;
    if (matches(pattern.graph, pattern.root, out, last, x) && out.type(x) == out.type(last))
      return out.add(Gelu{pattern.kind}, {x}, node.path, node.layer);
  }
  return std::nullopt;
}

// x Wᵀ for a stored W [out, in]. One that is stored [in, out] is left to MatMul: as a Linear's weight it
// would be transposed when it is loaded, and could not be used where it is mapped.
std::optional<Value> find_linear(Graph& out, const Node& node, const std::vector<Value>& inputs) {
  if (!std::holds_alternative<MatMul>(node.op)) return std::nullopt;
  const Node& matrix = out.at(inputs[1]);
  const auto* turned = std::get_if<Transpose>(&matrix.op);
  if (turned == nullptr || turned->permutation != std::vector<int>{1, 0}) return std::nullopt;
  const Value weight = matrix.inputs[0];
  if (!std::holds_alternative<Weight>(out.at(weight).op)) return std::nullopt;
  return out.add(Linear{}, {inputs[0], weight}, node.path, node.layer);
}

// A bias added to a product that nothing else reads joins it.
std::optional<Value> find_bias(Graph& out, const Node& node, const std::vector<Value>& inputs,
                               const std::vector<int>& uses) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->kind != Binary::add) return std::nullopt;
  for (const std::size_t k : {0u, 1u}) {
    const Node &product = out.at(inputs[k]), &bias = out.at(inputs[1 - k]);
    const bool joins = std::holds_alternative<Linear>(product.op) && product.inputs.size() == 2 &&
                       std::holds_alternative<Weight>(bias.op) &&
                       uses[static_cast<std::size_t>(node.inputs[k].node)] == 1 &&
                       bias.outputs[0].shape == Shape{product.outputs[0].shape.back()};
    if (!joins) continue;
    const Value x = product.inputs[0], w = product.inputs[1];
    return out.add(Linear{}, {x, w, inputs[1 - k]}, node.path, node.layer);
  }
  return std::nullopt;
}

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.nodes.size(), 0);
  const auto use = [&](Value v) {
    if (v.present()) ++uses[static_cast<std::size_t>(v.node)];
  };
  for (const Node& node : graph.nodes)
    for (const Value v : node.inputs) use(v);
  for (const Named& n : graph.outputs) use(n.value);
  for (const Named& n : graph.observed) use(n.value);
  return uses;
}

}  // namespace

Graph recognise(const Graph& graph) {
  const std::vector<int> uses = count_uses(graph);
  return pruned(replay(graph, [&](Graph& out, const Node& node, const std::vector<Value>& inputs) {
    if (const auto linear = find_linear(out, node, inputs)) return *linear;
    if (const auto linear = find_bias(out, node, inputs, uses)) return *linear;
    out.nodes.push_back(node);
    out.nodes.back().inputs = inputs;
    const Value v{static_cast<int>(out.nodes.size()) - 1, 0};
    return find_gelu(out, node, v).value_or(v);
  }));
}

}  // namespace hf::onnx
