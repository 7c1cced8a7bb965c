#include "converters/onnx/recognise.h"

#include <doctest/doctest.h>

#include "small_encoder.h"

using namespace hf;

namespace {

const Shape kShape{Dim::symbol("n"), 4};

Graph recognised(const std::function<Value(Builder&, Value)>& build) {
  Graph graph;
  Builder b(graph);
  const Value x = b.input("x", DType::f32, kShape);
  b.output("y", build(b, x));
  return onnx::recognise(graph);
}

const Node& output_node(const Graph& graph) { return graph.at(graph.outputs.at(0).value); }

Value defined(Builder& b, Op op, std::vector<Value> inputs) {
  return decompose(b.graph(), op, inputs, "", -1);
}

}  // namespace

TEST_CASE("both definitions of Gelu are put together again") {
  for (const auto kind : {Gelu::erf, Gelu::tanh}) {
    const Graph graph = recognised([&](Builder& b, Value x) { return defined(b, Gelu{kind}, {x}); });
    const auto* gelu = std::get_if<Gelu>(&output_node(graph).op);
    REQUIRE(gelu != nullptr);
    CHECK(gelu->kind == kind);
    CHECK(graph.nodes.size() == 2);
  }
}

TEST_CASE("the order of a product's sides does not matter") {
  const Graph graph = recognised([](Builder& b, Value x) {
    const Value e = b.unary(Unary::erf, b.div(x, b.number(1.41421354f)));
    const Value one_more = b.add(b.number(1), e);
    const Value product = b.mul(one_more, x);
    return b.mul(b.number(0.5f), product);
  });
  CHECK(std::holds_alternative<Gelu>(output_node(graph).op));
}

TEST_CASE("what is nearly a Gelu stays as it is") {
  const auto nearly = [](float root, float one, float half, bool other) {
    return recognised([&](Builder& b, Value x) {
      const Value e = b.unary(Unary::erf, b.div(x, b.number(root)));
      const Value y = other ? b.tanh(x) : x;
      return b.mul(b.mul(y, b.add(e, b.number(one))), b.number(half));
    });
  };
  CHECK(std::holds_alternative<Gelu>(output_node(nearly(1.41421354f, 1, 0.5f, false)).op));
  CHECK(!std::holds_alternative<Gelu>(output_node(nearly(1.4f, 1, 0.5f, false)).op));
  CHECK(!std::holds_alternative<Gelu>(output_node(nearly(1.41421354f, 1.5f, 0.5f, false)).op));
  CHECK(!std::holds_alternative<Gelu>(output_node(nearly(1.41421354f, 1, 0.25f, false)).op));
  CHECK(!std::holds_alternative<Gelu>(output_node(nearly(1.41421354f, 1, 0.5f, true)).op));
}

TEST_CASE("a layer over a transposed weight, with its bias") {
  const Graph graph = recognised([](Builder& b, Value x) {
    const Value w = b.weight("w", {5, 4}), bias = b.weight("b", {5});
    return defined(b, Linear{}, {x, w, bias});
  });
  const Node& node = output_node(graph);
  CHECK(std::holds_alternative<Linear>(node.op));
  CHECK(node.inputs.size() == 3);
  CHECK(graph.nodes.size() == 4);
}

TEST_CASE("a product that something else reads keeps its bias apart") {
  const Graph graph = recognised([](Builder& b, Value x) {
    const Value w = b.weight("w", {5, 4}), bias = b.weight("b", {5});
    const Value product = defined(b, Linear{}, {x, w});
    return b.mul(b.add(product, bias), product);
  });
  int layers = 0;
  for (const Node& node : graph.nodes) layers += std::holds_alternative<Linear>(node.op) ? 1 : 0;
  CHECK(layers == 1);
  CHECK(std::holds_alternative<Binary>(output_node(graph).op));
}

TEST_CASE("a weight that is stored [in, out] is left to MatMul, which takes it as it is mapped") {
  const Graph graph = recognised([](Builder& b, Value x) {
    return b.op(MatMul{}, {x, b.weight("w", {4, 5})});
  });
  CHECK(std::holds_alternative<MatMul>(output_node(graph).op));
}
