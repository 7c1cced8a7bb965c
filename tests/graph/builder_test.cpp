#include "graph/builder.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

namespace hf::test {
namespace {

const Weight& weight_of(const Graph& g, Value v) { return std::get<Weight>(g.at(v).op); }

}  // namespace

TEST_CASE("in extends the path that names weights") {
  Graph g;
  const Builder top(g);
  CHECK(top.name("weight") == "weight");
  CHECK(top.in("").path().empty());
  const Builder layer = top.in("encoder").in("layer", 3);
  CHECK(layer.path() == "encoder.layer.3");
  CHECK(layer.in("").name("bias") == "encoder.layer.3.bias");
  CHECK(layer.in("attention.self").path() == "encoder.layer.3.attention.self");
  Builder inner = layer.in("x");
  const Value w = inner.weight("weight", {2});
  CHECK(weight_of(g, w).ref.name == "encoder.layer.3.x.weight");
  CHECK(g.at(w).layer == 3);
}

TEST_CASE("a linear layer has weight [out, in] and bias [out] below its name") {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {2, 3});
  const Value y = b.linear(x, "dense", 5, {Split::outputs, 5});
  const Node& node = g.at(y);
  REQUIRE(node.inputs.size() == 3);
  CHECK(node.path == "dense");
  CHECK(weight_of(g, node.inputs[1]).ref.name == "dense.weight");
  CHECK(g.shape(node.inputs[1]) == Shape{5, 3});
  CHECK(weight_of(g, node.inputs[2]).ref.name == "dense.bias");
  CHECK(weight_of(g, node.inputs[2]).split.kind == Split::outputs);
  const Value bare = b.linear(x, "plain", 5, {}, Bias::absent);
  CHECK(g.at(bare).inputs.size() == 2);
}

TEST_CASE("the bias of a product over sliced inputs joins after the product") {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {2, 3});
  const Value y = b.linear(x, "dense", 5, {Split::inputs});
  CHECK(std::holds_alternative<Binary>(g.at(y).op));
  CHECK(std::holds_alternative<Linear>(g.at(g.at(y).inputs[0]).op));
  CHECK(g.at(g.at(y).inputs[0]).inputs.size() == 2);
  CHECK(weight_of(g, g.at(y).inputs[1]).split.kind == Split::none);
}

TEST_CASE("select takes one index of an axis away, split_heads parts the last one") {
  Graph g;
  Builder b(g);
  const Dim s = Dim::symbol("s");
  const Value x = b.input("x", DType::f32, {2, s, 12});
  CHECK(b.shape(b.select(x, 1, 0)) == Shape{2, 12});
  CHECK(b.shape(b.select(x, 1, s - Dim(1))) == Shape{2, 12});
  CHECK(b.shape(b.split_heads(x, 4)) == Shape{2, 3, s, 4});
  CHECK(b.dim(x, -1) == Dim(12));
  CHECK(b.dim(x, 1) == s);
}

TEST_CASE("what needs no node adds none") {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {2});
  CHECK(b.cast(x, DType::f32) == x);
  CHECK(g.nodes.size() == 1);
  CHECK(std::holds_alternative<Constant>(g.at(b.size(7)).op));
  CHECK(std::holds_alternative<Size>(g.at(b.size(Dim::symbol("s"))).op));
}

TEST_CASE("an embedding gathers rows of its table") {
  Graph g;
  Builder b = Builder(g).in("embeddings");
  const Value ids = b.input("ids", DType::i64, {2, 3});
  const Value x = b.embedding(ids, "word_embeddings", 9, 4);
  CHECK(g.shape(x) == Shape{2, 3, 4});
  CHECK(weight_of(g, g.at(x).inputs[0]).ref.name == "embeddings.word_embeddings.weight");
  CHECK(g.at(x).path == "embeddings.word_embeddings");
}

}  // namespace hf::test
