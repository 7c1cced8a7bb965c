#include "graph/graph.h"

#include <doctest/doctest.h>

#include "graph/builder.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

const Dim kBatch = Dim::symbol("b"), kSequence = Dim::symbol("s");

// y = relu(x) + 1, z = -x, and a constant that nobody uses; a state that turns `past` into y.
Graph small() {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {kBatch, kSequence});
  const Value past = b.input("past", DType::f32, {kBatch, Dim::symbol("p")});
  b.number(3);
  const Value relu = b.in("act", 2).unary(Unary::relu, x);
  const Value one = b.number(1);
  const Value y = b.add(relu, one);
  b.output("y", y);
  b.observe("seen", relu);
  const Value z = b.unary(Unary::negate, x);
  b.output("z", z);
  g.states.push_back({"cache", past, y, 1, State::append});
  return g;
}

Value copy(Graph& out, const Node& node, const std::vector<Value>& inputs) {
  out.nodes.push_back(node);
  out.nodes.back().inputs = inputs;
  return {static_cast<int>(out.nodes.size()) - 1, 0};
}

}  // namespace

TEST_CASE("add infers, drops absent inputs at the end and keeps path and layer") {
  Graph g;
  const Value x = g.add_source(Input{"x"}, {DType::f32, {2, 3}});
  const Value w = g.add_source(Weight{{"w", {}, {}}, {}}, {DType::f32, {4, 3}});
  const Value y = g.add(Linear{}, {x, w, {}}, "layer.7.up", 7);
  CHECK(g.at(y).inputs.size() == 2);
  CHECK(g.shape(y) == Shape{2, 4});
  CHECK(g.at(y).path == "layer.7.up");
  CHECK(g.at(y).layer == 7);
  CHECK(g.inputs == std::vector<Value>{x});
  CHECK(g.input_name(x) == "x");
}

TEST_CASE("inputs that do not fit are an internal error that names path and op") {
  Graph g;
  const Value x = g.add_source(Input{"x"}, {DType::f32, {2, 3}});
  const Value y = g.add_source(Input{"y"}, {DType::f32, {2, 4}});
  const Caught c = error_of([&] { g.add(Binary{Binary::add}, {x, y}, "layer.7\x1b", 7); });
  CHECK(c == ErrorKind::internal);
  CHECK(c.message == "layer.7\\x1b: Binary: shapes [2, 3] and [2, 4] do not broadcast");
  CHECK(g.nodes.size() == 2);
}

TEST_CASE("outputs are found by name") {
  const Graph g = small();
  CHECK(g.find_output("z").present());
  CHECK_FALSE(g.find_output("seen").present());
}

TEST_CASE("a replay that copies gives the same graph") {
  const Graph g = small();
  const Graph again = replay(g, copy);
  CHECK(dump(again) == dump(g));
  CHECK(again.inputs == g.inputs);
  REQUIRE(again.states.size() == 1);
  CHECK(again.states[0].present == g.states[0].present);
  CHECK(again.states[0].past == g.states[0].past);
  check(again);
}

TEST_CASE("a replay maps every use to what emit returned") {
  const Graph g = small();
  // relu(x) becomes maximum(x, 0): two nodes for one.
  const Graph out = replay(g, [](Graph& to, const Node& node, const std::vector<Value>& inputs) {
    const auto* unary = std::get_if<Unary>(&node.op);
    if (unary == nullptr || unary->kind != Unary::relu) return copy(to, node, inputs);
    const Value zero = to.add(Constant{std::make_shared<const Tensor>(Tensor::scalar(0.0f))}, {});
    return to.add(Binary{Binary::maximum}, {inputs[0], zero}, node.path, node.layer);
  });
  check(out);
  CHECK(out.nodes.size() == g.nodes.size() + 1);
  CHECK(std::get<Binary>(out.at(out.observed[0].value).op).kind == Binary::maximum);
  CHECK(out.at(out.at(out.find_output("y")).inputs[0]).layer == 2);
  CHECK(out.states[0].present == out.find_output("y"));
}

TEST_CASE("pruning drops what no output, observed value or state needs, inputs stay") {
  Graph g = small();
  CHECK(pruned(g).nodes.size() == g.nodes.size() - 1);
  g.outputs.erase(g.outputs.begin());  // y: the state still needs it
  CHECK(pruned(g).nodes.size() == g.nodes.size() - 1);
  g.states.clear();  // relu(x) is still observed
  CHECK(pruned(g).nodes.size() == g.nodes.size() - 3);
  g.observed.clear();
  g.outputs.clear();
  const Graph bare = pruned(g);
  CHECK(bare.nodes.size() == 2);
  CHECK(bare.inputs.size() == 2);
  check(bare);
}

TEST_CASE("pruning keeps order, types and paths") {
  const Graph g = pruned(small());
  check(g);
  CHECK(dump(pruned(g)) == dump(g));
  CHECK(g.nodes[2].path == "act.2");
}

TEST_CASE("the sizes of inputs give the symbols their numbers") {
  Graph g;
  Builder b(g);
  b.input("cache", DType::f32, {kBatch, kSequence + Dim::symbol("past")});  // before its symbols are known
  b.input("ids", DType::i64, {kBatch, kSequence});
  b.input("past", DType::f32, {kBatch, Dim::symbol("past"), 4});
  const std::vector<Sizes> sizes{{2, 8}, {2, 3}, {2, 5, 4}};
  const Symbols symbols = match_inputs(g, sizes);
  CHECK(symbols == Symbols{{"b", 2}, {"s", 3}, {"past", 5}});
}

TEST_CASE("sizes that contradict the graph or each other are refused with the input's name") {
  Graph g;
  Builder b(g);
  b.input("ids", DType::i64, {kBatch, kSequence});
  b.input("mask", DType::i64, {kBatch, kSequence});
  b.input("x", DType::f32, {kBatch, 4});
  const auto refused = [&](const std::vector<Sizes>& sizes, std::string_view sentence) {
    const Caught c = error_of([&] { match_inputs(g, sizes); });
    CHECK(c == ErrorKind::usage);
    CHECK_MESSAGE(c.says(sentence), c.message);
  };
  refused({{2, 3}, {2, 4}, {2, 4}}, "input \"mask\": has shape [2, 4], [b, s] is expected");
  refused({{2, 3}, {1, 3}, {2, 4}}, "input \"mask\": has shape [1, 3]");
  refused({{2, 3}, {2, 3}, {2, 5}}, "input \"x\": has shape [2, 5], [b, 4] is expected");
  refused({{2, 3}, {2, 3, 1}, {2, 4}}, "input \"mask\": has shape [2, 3, 1]");
  refused({{2, 3}, {2, 3}}, "2 inputs are given, the graph has 3");
  refused({{2, 3}, {2, 3}, {2, 4}, {1}}, "4 inputs are given, the graph has 3");
}

TEST_CASE("a symbol that stands only inside an expression needs a number from elsewhere") {
  Graph g;
  Builder b(g);
  b.input("x", DType::f32, {kSequence + Dim(1)});
  const std::vector<Sizes> sizes{{4}};
  const Caught c = error_of([&] { match_inputs(g, sizes); });
  CHECK(c == ErrorKind::usage);
  CHECK_MESSAGE(c.says("s"), c.message);
}

}  // namespace hf::test
