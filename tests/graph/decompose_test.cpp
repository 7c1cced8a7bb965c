#include <doctest/doctest.h>

#include <cmath>

#include "graph/builder.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

const Dim kBatch = Dim::symbol("b"), kSequence = Dim::symbol("s"), kTotal = Dim::symbol("t");

// One composite over inputs of its own, at a path and layer of its own.
struct One {
  One(const Op& op, DType dtype, const std::vector<Shape>& shapes, bool mask = false) {
    std::vector<Value> inputs;
    for (const Shape& shape : shapes)
      inputs.push_back(graph.add_source(Input{"i" + std::to_string(inputs.size())}, {dtype, shape}));
    if (mask) {
      inputs.resize(4);
      inputs.push_back(graph.add_source(Input{"mask"}, {DType::boolean, {kBatch, 1, 1, kTotal}}));
    }
    graph.outputs.push_back({"out", graph.add(op, inputs, "layer.3.here", 3)});
  }
  Graph graph;
};

std::vector<One> every_composite(DType dtype) {
  const Shape q{kBatch, kSequence, 24}, same{kBatch, 6, kTotal, 4}, shared{kBatch, 2, kTotal, 4};
  const Attention plain{4, 0.5f, false}, causal{4, 0.5f, true};
  return {
      {Linear{}, dtype, {{kBatch, kSequence, 3}, {5, 3}}},
      {Linear{}, dtype, {{kBatch, kSequence, 3}, {5, 3}, {5}}},
      {LayerNorm{1e-5f}, dtype, {{kBatch, kSequence, 4}, {4}, {4}}},
      {Gelu{Gelu::erf}, dtype, {{kBatch, 4}}},
      {Gelu{Gelu::tanh}, dtype, {{kBatch, 4}}},
      {Softmax{1}, dtype, {{kBatch, kSequence, 4}}},
      {plain, dtype, {q, same, same}},
      {plain, dtype, {q, shared, shared}},
      {plain, dtype, {q, same, same, {1, 6, kSequence, kTotal}}},
      {plain, dtype, {q, same, same}, true},
      {causal, dtype, {q, same, same}},
      {causal, dtype, {q, shared, shared}, true},
  };
}

constexpr DType kFloats[] = {DType::f32, DType::f16, DType::bf16, DType::f64};

}  // namespace

TEST_CASE("a definition has primitives only, and gives the type of the composite") {
  for (const DType dtype : kFloats) {
    for (const One& one : every_composite(dtype)) {
      const Graph whole = decompose(one.graph);
      CAPTURE(dump(one.graph));
      check(whole);
      for (const Node& node : whole.nodes) CHECK_FALSE(composite(node.op));
      CHECK(whole.type(whole.find_output("out")) == one.graph.type(one.graph.find_output("out")));
      CHECK(whole.inputs.size() == one.graph.inputs.size());
    }
  }
}

TEST_CASE("the nodes of a definition have the composite's path and layer") {
  for (const One& one : every_composite(DType::f32)) {
    for (const Node& node : decompose(one.graph).nodes) {
      if (std::holds_alternative<Input>(node.op)) continue;
      CHECK(node.path == "layer.3.here");
      CHECK(node.layer == 3);
    }
  }
}

TEST_CASE("kept composites stay, also where a definition uses them") {
  const auto softmax = [](const Op& op) { return std::holds_alternative<Softmax>(op); };
  const auto attention = [](const Op& op) { return std::holds_alternative<Attention>(op); };
  for (const One& one : every_composite(DType::f32)) {
    const bool attends = attention(one.graph.at(one.graph.find_output("out")).op);
    std::size_t softmaxes = 0;
    for (const Node& node : decompose(one.graph, softmax).nodes) softmaxes += softmax(node.op) ? 1 : 0;
    CHECK(softmaxes == (attends || softmax(one.graph.at(one.graph.find_output("out")).op) ? 1 : 0));
    if (attends) CHECK(dump(decompose(one.graph, attention)) == dump(one.graph));
  }
}

TEST_CASE("a graph of primitives stays as it is") {
  for (const One& one : every_composite(DType::f32)) {
    const Graph whole = decompose(one.graph);
    CHECK(dump(decompose(whole)) == dump(whole));
  }
}

TEST_CASE("binding before or after gives the same shapes") {
  const Symbols symbols{{"b", 2}, {"s", 3}, {"t", 5}};
  for (const One& one : every_composite(DType::f32)) {
    const Graph first = bind_symbols(decompose(one.graph), symbols),
                then = decompose(bind_symbols(one.graph, symbols));
    CHECK(first.type(first.find_output("out")) == then.type(then.find_output("out")));
    check(first);
    check(then);
  }
}

TEST_CASE("what is masked gets the lowest finite value of each dtype") {
  for (const DType dtype : kFloats) {
    const One one(Attention{4, 1.0f, false}, dtype,
                  {{kBatch, kSequence, 4}, {kBatch, 1, kTotal, 4}, {kBatch, 1, kTotal, 4}}, true);
    double least = 0;
    for (const Node& node : decompose(one.graph).nodes) {
      const auto* constant = std::get_if<Constant>(&node.op);
      if (constant == nullptr) continue;
      CHECK(constant->value->dtype() == dtype);
      least = std::min(least, converted(constant->value->view(), DType::f64).as<double>()[0]);
    }
    CAPTURE(name_of(dtype));
    CHECK(std::isfinite(least));
    Tensor below(DType::f64, {});  // one more bit of the dtype's precision is beyond it
    below.as<double>()[0] = least * (1 + (dtype == DType::bf16  ? 0x1p-8
                                          : dtype == DType::f16 ? 0x1p-11
                                                                : 0x1p-24));
    if (dtype != DType::f64)
      CHECK(std::isinf(converted(converted(below.view(), dtype).view(), DType::f64).as<double>()[0]));
    else
      CHECK(least == std::numeric_limits<double>::lowest());
  }
}

TEST_CASE("a primitive has no definition") {
  Graph g;
  const Value x = g.add_source(Input{"x"}, {DType::f32, {2}});
  CHECK(error_of([&] { decompose(g, Op{Unary{Unary::relu}}, std::vector<Value>{x}, "", -1); }) ==
        ErrorKind::internal);
}

}  // namespace hf::test
