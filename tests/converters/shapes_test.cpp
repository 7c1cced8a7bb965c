// Symbolic sizes become arithmetic in the file, and expressions again when it is read.
#include <doctest/doctest.h>

#include "converters/onnx/dim_text.h"
#include "converters/onnx/onnx.h"
#include "small_encoder.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::test;

namespace {

const Dim n = Dim::symbol("n"), m = Dim::symbol("m");

// The graph of `build`, which gets inputs a [n, m, 6] and b [m, n], after it was written and read.
Graph read_back(const std::function<void(Builder&, Value, Value)>& build) {
  Graph graph;
  Builder b(graph);
  const Value first = b.input("a", DType::f32, {n, m, 6});
  const Value second = b.input("b", DType::f32, {m, n});
  build(b, first, second);
  const TempDir dir;
  onnx::write(model_of(std::move(graph), std::make_shared<TensorMap>()), dir.path());
  return onnx::read(dir.path()).parts[0].graph;
}

const Node& output_node(const Graph& graph) { return graph.at(graph.outputs.at(0).value); }

}  // namespace

TEST_CASE("the bounds of ranges and slices survive as expressions") {
  const std::vector<Dim> sizes{n,
                               n + m,
                               n * m,
                               2 * n + 3,
                               n - 1,
                               n * m - 2 * n + 1,
                               floor_div(n - 10, 5) + Dim(1),
                               mod(n, 3),
                               min(n, m),
                               max(n * 2, m + Dim(7)),
                               floor_div(floor_div(n, 2), m)};
  for (const Dim& size : sizes) {
    CAPTURE(size.to_string());
    const Graph graph = read_back([&](Builder& b, Value, Value) { b.output("y", b.range(0, size)); });
    const auto* range = std::get_if<Range>(&output_node(graph).op);
    REQUIRE(range != nullptr);
    CHECK(range->begin == Dim(0));
    CHECK(range->end == size);
  }
}

TEST_CASE("a size as a value is that size again") {
  const Graph graph = read_back([](Builder& b, Value, Value) { b.output("y", b.size(n * m + Dim(1))); });
  const auto* size = std::get_if<Size>(&output_node(graph).op);
  REQUIRE(size != nullptr);
  CHECK(size->dim == n * m + Dim(1));
}

TEST_CASE("reshapes with any number of symbolic sizes keep their shape") {
  const std::vector<Shape> shapes{{n * m, 6},      {n, m, 2, 3}, {m, n, 6},     {n, 6 * m},   {6, m, n},
                                  {1, n, 1, m, 6}, {n * m * 6},  {m * 2, 3, n}, {2, n * m, 3}};
  for (const Shape& to : shapes) {
    CAPTURE(to_string(to));
    const Graph graph = read_back([&](Builder& b, Value a, Value) { b.output("y", b.reshape(a, to)); });
    CHECK(output_node(graph).outputs[0].shape == to);
  }
}

TEST_CASE("slices, expansions and gathers keep theirs") {
  const std::vector<std::function<Value(Builder&, Value, Value)>> cases{
      [](Builder& b, Value a, Value) { return b.slice(a, 1, 0, m - Dim(1)); },
      [](Builder& b, Value a, Value) { return b.slice(a, 1, 1, m); },
      [](Builder& b, Value a, Value) {
        return b.op(Slice{2, 1, 6, 2}, {a});
      },
      [](Builder& b, Value a, Value) { return b.select(a, 1, m - Dim(1)); },
      [](Builder& b, Value a, Value) { return b.select(a, 0, 0); },
      [](Builder& b, Value, Value t) {
        return b.op(Expand{{n, m, n}}, {t});
      },
      [](Builder& b, Value, Value t) {
        return b.op(Expand{{n + m, m, n}}, {t});
      },
      [](Builder& b, Value, Value) {
        return b.op(Expand{{n, 3, m}}, {b.number(2)});
      },
      [](Builder& b, Value, Value t) { return b.gather(t, b.range(0, n - Dim(2)), 1); },
      [](Builder& b, Value a, Value) {
        return b.concat({a, a}, 1);
      },
      [](Builder& b, Value a, Value) {
        return b.reduce(Reduce::mean, a, {0, 2}, false);
      },
      [](Builder& b, Value a, Value) { return b.reduce(Reduce::sum, a, {1}, true); },
      [](Builder& b, Value a, Value) {
        return b.op(ArgMax{1, false}, {a});
      },
      [](Builder& b, Value a, Value) { return b.op(CumSum{1}, {b.cast(a, DType::i64)}); }};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    TensorType expected;
    const Graph graph = read_back([&](Builder& b, Value a, Value t) {
      const Value y = cases[i](b, a, t);
      expected = b.graph().type(y);
      b.output("y", y);
    });
    CHECK(output_node(graph).outputs[0] == expected);
  }
}

TEST_CASE("a dimension's text is read as the expression that it spells") {
  for (const Dim& dim : {n, n + m, 2 * n - 3, floor_div(n, 2) * m, mod(n + Dim(1), 4), min(n, m + Dim(2)),
                         max(n * m, 5), Dim(7), floor_div(floor_div(n - 10, 5) + Dim(1), 2)}) {
    CAPTURE(dim.to_string());
    CHECK(onnx::parse_dim(dim.to_string()) == dim);
  }
}

TEST_CASE("a dimension's text that is no expression is a name") {
  for (const char* text : {"batch size", "unk__12", "n + ", "(n", "min(n)", "4x", "", "n / m", "n // 0", "-",
                           "99999999999999999999"})
    CHECK(onnx::parse_dim(text) == Dim::symbol(text));
  std::string deep(500, '(');
  CHECK(onnx::parse_dim(deep) == Dim::symbol(deep));
}
