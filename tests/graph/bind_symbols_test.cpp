#include <doctest/doctest.h>

#include "graph/builder.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

const Dim kBatch = Dim::symbol("batch_size"), kSequence = Dim::symbol("sequence_length");

// Position rows for a sequence, one op for each that holds a Dim.
Graph with_positions() {
  Graph g;
  Builder b = Builder(g).in("embeddings");
  const Value x = b.input("x", DType::f32, {kBatch, kSequence, 4});
  const Value table = b.in("position_embeddings").weight("weight", {512, 4});
  const Value rows = b.in("position_embeddings").slice(table, 0, 0, kSequence);
  const Value wide = b.op(Expand{{kBatch, kSequence, 4}}, {rows});
  const Value sum = b.add(x, wide);
  const Value flat = b.reshape(sum, {kBatch * kSequence, 4});
  b.output("flat", flat);
  const Value range = b.range(0, kSequence);
  b.output("range", range);
  const Value size = b.size(kSequence + Dim(1));
  b.output("size", size);
  g.states.push_back({"s", x, sum, 1, State::append});
  return g;
}

}  // namespace

TEST_CASE("binding makes every dimension a number and folds sizes") {
  const Graph bound = bind_symbols(with_positions(), {{"batch_size", 2}, {"sequence_length", 3}});
  check(bound);
  for (const Node& node : bound.nodes) {
    for (const Dim& d : node.outputs[0].shape) CHECK(d.is_number());
    CHECK_FALSE(std::holds_alternative<Size>(node.op));
  }
  CHECK(bound.shape(bound.find_output("flat")) == Shape{6, 4});
  CHECK(bound.shape(bound.find_output("range")) == Shape{3});
  const auto& size = std::get<Constant>(bound.at(bound.find_output("size")).op);
  CHECK(size.value->as<std::int64_t>()[0] == 4);
  CHECK(bound.states.size() == 1);
  CHECK(bound.inputs.size() == 1);
}

TEST_CASE("binding keeps paths, names and order") {
  const Graph g = with_positions(), bound = bind_symbols(g, {{"batch_size", 2}, {"sequence_length", 3}});
  REQUIRE(bound.nodes.size() == g.nodes.size());
  for (std::size_t i = 0; i < g.nodes.size(); ++i) CHECK(bound.nodes[i].path == g.nodes[i].path);
  CHECK(bound.outputs[0].name == "flat");
}

TEST_CASE("a symbol without a number is the caller's error") {
  const Caught c = error_of([] { bind_symbols(with_positions(), {{"batch_size", 2}}); });
  CHECK(c == ErrorKind::usage);
  CHECK_MESSAGE(c.says("sequence_length"), c.message);
}

TEST_CASE("a number for a symbol that the graph lacks does no harm") {
  CHECK_NOTHROW(bind_symbols(with_positions(), {{"batch_size", 1}, {"sequence_length", 1}, {"other", 5}}));
}

TEST_CASE("a sequence as long as the position table fits, a longer one is the caller's error") {
  CHECK_NOTHROW(bind_symbols(with_positions(), {{"batch_size", 1}, {"sequence_length", 512}}));
  const Caught c = error_of([] {
    bind_symbols(with_positions(), {{"batch_size", 1}, {"sequence_length", 513}});
  });
  CHECK(c == ErrorKind::usage);
  CHECK(c.message ==
        "the model has no room for batch_size 1, sequence_length 513: embeddings.position_embeddings: Slice: "
        "slice 0:513 is not within an axis of size 512");
}

TEST_CASE("a negative size is the caller's error") {
  const Caught c = error_of([] {
    bind_symbols(with_positions(), {{"batch_size", -1}, {"sequence_length", 3}});
  });
  CHECK(c == ErrorKind::usage);
  CHECK(c.message == "batch_size is -1, at least 0 is expected");
}

TEST_CASE("an empty sequence is bound like any other") {
  const Graph bound = bind_symbols(with_positions(), {{"batch_size", 2}, {"sequence_length", 0}});
  CHECK(bound.shape(bound.find_output("flat")) == Shape{0, 4});
}

TEST_CASE("collectives keep the type that they state") {
  Graph g;
  const Value x = g.add_source(Input{"x"}, {DType::f32, {kBatch, 4}});
  g.nodes.push_back({AllGather{1}, {x}, {{DType::f32, {kBatch, 8}}}, "", -1});
  g.outputs.push_back({"y", {1, 0}});
  const Graph bound = bind_symbols(g, {{"batch_size", 3}});
  CHECK(bound.shape(bound.find_output("y")) == Shape{3, 8});
}

}  // namespace hf::test
