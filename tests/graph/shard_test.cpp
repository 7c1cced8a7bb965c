// Tensor parallelism on graphs by hand; the rows of architectures are tested in
// tests/arch/shard_rows_test.cpp.
#include <doctest/doctest.h>

#include "graph/builder.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

const Dim kBatch = Dim::symbol("b"), kSequence = Dim::symbol("s");
constexpr Split kOutputs{Split::outputs}, kInputs{Split::inputs};

template <class T>
std::size_t count(const Graph& g) {
  std::size_t n = 0;
  for (const Node& node : g.nodes) n += std::holds_alternative<T>(node.op) ? 1 : 0;
  return n;
}

// A graph with input x [b, s, 24] and what `f` makes of it as output y.
template <class F>
Graph written(F&& f) {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {kBatch, kSequence, 24});
  b.output("y", f(b, x));
  return g;
}

// Every rank's graph of a sound sharding.
std::vector<Graph> ranks_of(const Graph& g, int ranks) {
  std::vector<Graph> out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(shard(g, rank, ranks));
    check(out.back());
    for (std::size_t i = 0; i < g.outputs.size(); ++i)
      CHECK(out.back().type(out.back().outputs[i].value) == g.type(g.outputs[i].value));
  }
  return out;
}

template <class F>
void check_refused(std::string_view sentence, F&& f) {
  const Graph g = written(f);
  const Caught c = error_of([&] { shard(g, 0, 2); });
  CHECK(c == ErrorKind::usage);
  CHECK_MESSAGE(c.says("tensor parallel over 2: "), c.message);
  CHECK_MESSAGE(c.says(sentence), c.message);
}

// q, k and v for 6 heads of 4, each split as it is given.
Value attend(Builder b, Value x, Split q, Split k, Split v, Value bias = {}, Value mask = {}) {
  const Value query = b.linear(x, "q", 24, q);
  const Value key = b.split_heads(b.linear(x, "k", 24, k), 4);
  const Value value = b.split_heads(b.linear(x, "v", 24, v), 4);
  return b.attention(query, key, value, bias, mask, {4, 0.5f, false});
}
constexpr Split kHeads{Split::outputs, 4};

}  // namespace

TEST_CASE("one rank has the whole graph") {
  const Graph g = written([](Builder b, Value x) { return b.linear(x, "up", 48, kOutputs); });
  const Graph one = shard(g, 0, 1);
  check(one);
  CHECK(count<Linear>(one) == 1);
}

TEST_CASE("outputs then inputs need one sum, its bias joins once after it") {
  const Graph g = written([](Builder b, Value x) {
    const Value up = b.unary(Unary::relu, b.linear(x, "up", 48, kOutputs));
    return b.linear(up, "down", 24, kInputs);
  });
  for (const int ranks : {2, 3, 4, 6, 12}) {
    for (const Graph& mine : ranks_of(g, ranks)) {
      CHECK(count<AllReduce>(mine) == 1);
      CHECK(count<AllGather>(mine) == 0);
      const Node& last = mine.at(mine.find_output("y"));
      CHECK(std::holds_alternative<Binary>(last.op));
      CHECK(std::holds_alternative<AllReduce>(mine.at(last.inputs[0]).op));
    }
  }
}

TEST_CASE("each rank has its own part of a weight, in whole units") {
  const Graph g = written([](Builder b, Value x) { return b.linear(x, "up", 48, {Split::outputs, 8}); });
  for (int rank = 0; rank < 3; ++rank) {
    const Graph mine = shard(g, rank, 3);
    for (const Node& node : mine.nodes) {
      const auto* weight = std::get_if<Weight>(&node.op);
      if (weight == nullptr) continue;
      CHECK(node.outputs[0].shape[0] == Dim(16));
      CHECK(weight->ref.view.ranges == std::vector<AxisRange>{{0, rank * 16, rank * 16 + 16}});
    }
  }
}

TEST_CASE("a part of a view is a part of what the view shows") {
  const Graph g = written([](Builder b, Value x) {
    const Value w = b.weight(TensorRef{"c_attn", {}, View{{}, {{1, 24, 48}}, {1, 0}}}, {24, 24}, kHeads);
    return b.linear(x, w, {}, kHeads);
  });
  const Graph mine = shard(g, 1, 2);
  for (const Node& node : mine.nodes)
    if (const auto* weight = std::get_if<Weight>(&node.op))
      CHECK(weight->ref.view == View{{}, {{1, 36, 48}}, {1, 0}});
}

TEST_CASE("an output that is a slice is gathered, one that is partial is summed") {
  const Graph sliced = written([](Builder b, Value x) { return b.linear(x, "up", 48, kOutputs); });
  for (const Graph& mine : ranks_of(sliced, 2)) {
    CHECK(std::get<AllGather>(mine.at(mine.find_output("y")).op).axis == 2);
    CHECK(count<AllReduce>(mine) == 0);
  }
  const Graph partial = written([](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    return b.linear(up, "down", 24, kInputs, Bias::absent);
  });
  for (const Graph& mine : ranks_of(partial, 2))
    CHECK(std::holds_alternative<AllReduce>(mine.at(mine.find_output("y")).op));
}

TEST_CASE("a sum that several need is made once") {
  const Graph g = written([](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    const Value down = b.linear(up, "down", 24, kInputs, Bias::absent);
    b.observe("down", down);
    const Value normed = b.layer_norm(down, "norm", 1e-5f);
    return b.add(down, normed);
  });
  for (const Graph& mine : ranks_of(g, 2)) CHECK(count<AllReduce>(mine) == 1);
}

TEST_CASE("attention runs on each rank's heads") {
  const Graph g = written([](Builder b, Value x) {
    const Value mask = b.input("mask", DType::boolean, {kBatch, 1, 1, kSequence});
    const Value mixed = attend(b, x, kHeads, kHeads, kHeads, {}, mask);
    return b.linear(mixed, "out", 24, {Split::inputs, 4});
  });
  for (const int ranks : {2, 3, 6}) {
    for (const Graph& mine : ranks_of(g, ranks)) {
      CHECK(count<AllReduce>(mine) == 1);
      for (const Node& node : mine.nodes)
        if (std::holds_alternative<Attention>(node.op)) CHECK(node.outputs[0].shape[2] == Dim(24 / ranks));
    }
  }
}

TEST_CASE("a bias of the scores that is the same for all heads may stay whole") {
  const Graph g = written([](Builder b, Value x) {
    const Value bias = b.input("bias", DType::f32, {kSequence, kSequence});
    return attend(b, x, kHeads, kHeads, kHeads, bias);
  });
  for (const Graph& mine : ranks_of(g, 2)) CHECK(count<Attention>(mine) == 1);
}

TEST_CASE("a vocabulary split by outputs gives slices of the logits") {
  const Graph g = written([](Builder b, Value x) { return b.linear(x, "lm_head", 96, kOutputs); });
  for (const Graph& mine : ranks_of(g, 12)) CHECK(count<AllGather>(mine) == 1);
}

TEST_CASE("a state is summed where it is partial, and is the rank's own where it is a slice") {
  Graph g = written([](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    return b.linear(up, "down", 24, kInputs, Bias::absent);
  });
  g.states.push_back({"up", {}, {3, 0}, 1, State::append});
  g.states.push_back({"down", {}, g.outputs[0].value, 1, State::append});
  REQUIRE(std::holds_alternative<Linear>(g.nodes[3].op));
  const Graph mine = shard(g, 0, 2);
  check(mine);
  CHECK(mine.shape(mine.states[0].present)[2] == Dim(24));
  CHECK(std::holds_alternative<AllReduce>(mine.at(mine.states[1].present).op));
}

TEST_CASE("ranks that are none are refused") {
  const Graph g = written([](Builder b, Value x) { return b.unary(Unary::relu, x); });
  for (const auto& [rank, ranks] : {std::pair{0, 0}, {-1, 2}, {2, 2}, {0, -1}}) {
    const Caught c = error_of([&, r = rank, n = ranks] { shard(g, r, n); });
    CHECK(c == ErrorKind::usage);
    CHECK(c.says("rank"));
  }
}

TEST_CASE("heads that do not divide are refused") {
  const Graph g = written([](Builder b, Value x) { return attend(b, x, kHeads, kHeads, kHeads); });
  for (const int ranks : {4, 5, 12}) {  // 6 heads
    const Caught c = error_of([&] { shard(g, 0, ranks); });
    CHECK(c == ErrorKind::usage);
    CHECK_MESSAGE(
        c.says("q: weight \"q.weight\" has 6 heads, which do not divide by " + std::to_string(ranks)),
        c.message);
  }
}

TEST_CASE("inner widths and vocabularies that do not divide are refused") {
  const auto refusal = [](Split split, std::int64_t in, std::int64_t out) {
    Graph g;
    Builder b(g);
    const Value x = b.input("x", DType::f32, {kBatch, in});
    b.output("y", b.linear(x, "w", out, split));
    return error_of([&] { shard(g, 0, 2); });
  };
  CHECK(refusal(kOutputs, 4, 47).says("weight \"w.weight\" has 47 outputs, which do not divide by 2"));
  CHECK(refusal(kInputs, 47, 4).says("weight \"w.weight\" has 47 inputs, which do not divide by 2"));
  CHECK(refusal({Split::outputs, 5}, 4, 48).says("has 48 outputs, which are not whole units of 5"));
  CHECK(refusal({Split::inputs, 0}, 48, 4).says("has 48 inputs, which are not whole units of 0"));
}

TEST_CASE("a weight of one axis has no inputs to split by") {
  check_refused("weight \"w\" has shape [24], which has no inputs to split by",
                [](Builder b, Value x) { return b.add(x, b.weight("w", {24}, kInputs)); });
}

TEST_CASE("q, k and v that are cut differently are refused") {
  const char* sentence = "q, k and v are cut differently";
  check_refused(sentence, [](Builder b, Value x) { return attend(b, x, kHeads, {}, kHeads); });
  check_refused(sentence, [](Builder b, Value x) { return attend(b, x, {}, kHeads, kHeads); });
  check_refused(sentence, [](Builder b, Value x) { return attend(b, x, kHeads, kHeads, {}); });
}

TEST_CASE("heads that are cut inside are refused") {
  // 12 outputs a rank are three heads of 4, six are one and a half.
  const Graph g = written([](Builder b, Value x) { return attend(b, x, kOutputs, kOutputs, kOutputs); });
  CHECK_NOTHROW(ranks_of(g, 2));
  const Caught c = error_of([&] { shard(g, 0, 4); });
  CHECK(c == ErrorKind::usage);
  CHECK_MESSAGE(c.says("tensor parallel over 4: Reshape: shape [b, s, 6] cannot become [b, s, -1, 4]"),
                c.message);
}

TEST_CASE("a bias that differs by head but is whole is refused") {
  check_refused("the bias differs by head but is whole", [](Builder b, Value x) {
    const Value bias = b.input("bias", DType::f32, {1, 6, kSequence, kSequence});
    return attend(b, x, kHeads, kHeads, kHeads, bias);
  });
}

TEST_CASE("a mask that differs by head but is whole is refused") {
  check_refused("the mask differs by head but is whole", [](Builder b, Value x) {
    const Value mask = b.input("mask", DType::boolean, {1, 6, kSequence, kSequence});
    return attend(b, x, kHeads, kHeads, kHeads, {}, mask);
  });
}

TEST_CASE("a weight split by inputs over a whole value is refused") {
  check_refused("down: the weight is split by inputs, but its input is whole",
                [](Builder b, Value x) { return b.linear(x, "down", 24, kInputs); });
}

TEST_CASE("outputs that are split but needed whole are refused") {
  check_refused("next: input is needed whole but is cut along axis 2", [](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    return b.linear(up, "next", 24);
  });
  check_refused("next: input is needed whole but is cut along axis 2", [](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    return b.linear(up, "next", 24, kOutputs);
  });
  check_refused("norm: input is needed whole but is cut along axis 2", [](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    return b.layer_norm(up, "norm", 1e-5f);
  });
}

TEST_CASE("a bias that is split otherwise than its weight is refused") {
  check_refused("the weight is split by outputs, its bias is not", [](Builder b, Value x) {
    const Value w = b.weight("w", {48, 24}, kOutputs), bias = b.weight("bias", {48});
    return b.op(Linear{}, {x, w, bias});
  });
  check_refused("input is needed whole but is cut along axis 0", [](Builder b, Value x) {
    const Value w = b.weight("w", {48, 24}), bias = b.weight("bias", {48}, kOutputs);
    return b.op(Linear{}, {x, w, bias});
  });
  check_refused("the bias of a weight split by inputs must join after the sum", [](Builder b, Value x) {
    const Value up = b.linear(x, "up", 48, kOutputs);
    const Value w = b.weight("w", {24, 48}, kInputs), bias = b.weight("bias", {24});
    return b.op(Linear{}, {up, w, bias});
  });
}

TEST_CASE("a slice and a whole value that do not fit each other are refused") {
  check_refused("one input is cut, the other is whole", [](Builder b, Value x) {
    const Value up = b.linear(x, "up", 24, kOutputs);
    return b.add(up, x);
  });
  check_refused("inputs are cut along different axes", [](Builder b, Value x) {
    const Value up = b.linear(b.reshape(b.slice(x, 1, 0, 1), {kBatch, 24}), "up", 1, {});
    const Value rows = b.weight("rows", {24, 24}, kOutputs);
    return b.add(b.add(rows, b.transpose(rows, {1, 0})), b.reduce(Reduce::sum, up, {0, 1}, false));
  });
}

TEST_CASE("work along the axis that is cut is refused") {
  const auto up = [](Builder b, Value x) { return b.linear(x, "up", 24, kOutputs); };
  check_refused("works along axis 2, which is cut",
                [&](Builder b, Value x) { return b.softmax(up(b, x), 2); });
  check_refused("works along axis 2, which is cut",
                [&](Builder b, Value x) { return b.slice(up(b, x), 2, 0, 12); });
  check_refused("is not left open in", [&](Builder b, Value x) {
    return b.reshape(up(b, x), {kBatch, kSequence, 6, 4});
  });
  check_refused("is needed whole but is cut",
                [&](Builder b, Value x) { return b.reduce(Reduce::sum, up(b, x), {2}, false); });
  check_refused("is needed whole but is cut", [&](Builder b, Value x) {
    const Value u = up(b, x);
    return b.concat({u, u}, 2);
  });
}

TEST_CASE("work along another axis keeps the slice") {
  const Graph g = written([](Builder b, Value x) {
    const Value up = b.linear(x, "up", 24, kOutputs);
    const Value turned = b.transpose(b.softmax(b.slice(up, 1, 0, kSequence), 1), {2, 0, 1});
    return b.transpose(turned, {1, 2, 0});
  });
  for (const Graph& mine : ranks_of(g, 3))
    CHECK(std::get<AllGather>(mine.at(mine.find_output("y")).op).axis == 2);
}

}  // namespace hf::test
