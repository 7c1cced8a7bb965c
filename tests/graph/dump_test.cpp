#include <doctest/doctest.h>

#include "graph/builder.h"

namespace hf::test {

TEST_CASE("a dump has a line a node with op, inputs, type and path") {
  Graph g;
  Builder b = Builder(g).in("encoder").in("layer", 3);
  const Dim s = Dim::symbol("s");
  const Value x = b.input("x", DType::f32, {1, s, 8});
  const Value w = b.weight(TensorRef{"c_attn.weight", {"alias"}, View{{}, {{1, 0, 8}}, {1, 0}}}, {8, 8},
                           {Split::outputs, 4});
  const Value bias = b.weight(TensorRef{"c_attn.bias", {}, View{{}, {{0, 0, 8}}, {}}}, {8}, {Split::outputs});
  const Value y = b.linear(x, w, bias, {Split::outputs, 4});
  const Value half = b.number(0.5f);
  const Value two = b.integer(2);
  const Value table = b.constant(Tensor(DType::i64, {2, 2}));
  const Value scaled = b.mul(y, half);
  const Value k = b.split_heads(scaled, 4);
  const Value a = b.attention(scaled, k, k, {}, {}, {4, 0.25f, true});
  const Value size = b.size(s);
  b.output("a", a);
  b.observe("size", size);
  (void)two;
  (void)table;
  CHECK(dump(g) ==
        "%0 = Input{x}() : fp32 [1, s, 8]\n"
        "%1 = Weight{c_attn.weight[:,0:8].T split by outputs of 4}() : fp32 [8, 8]  # encoder.layer.3\n"
        "%2 = Weight{c_attn.bias[0:8] split by outputs}() : fp32 [8]  # encoder.layer.3\n"
        "%3 = Linear(%0, %1, %2) : fp32 [1, s, 8]  # encoder.layer.3\n"
        "%4 = Constant{0.5}() : fp32 []  # encoder.layer.3\n"
        "%5 = Constant{2}() : int64 []  # encoder.layer.3\n"
        "%6 = Constant{[2, 2]}() : int64 [2, 2]  # encoder.layer.3\n"
        "%7 = Binary{multiply}(%3, %4) : fp32 [1, s, 8]  # encoder.layer.3\n"
        "%8 = Reshape{[1, s, -1, 4]}(%7) : fp32 [1, s, 2, 4]  # encoder.layer.3\n"
        "%9 = Transpose{[0,2,1,3]}(%8) : fp32 [1, 2, s, 4]  # encoder.layer.3\n"
        "%10 = Attention{head_dim 4 scale 0.25 causal}(%7, %9, %9) : fp32 [1, s, 8]  # encoder.layer.3\n"
        "%11 = Size{s}() : int64 []  # encoder.layer.3\n"
        "observed size = %11\n"
        "output a = %10\n");
}

TEST_CASE("names and paths from files are shown escaped") {
  Graph g;
  const Value w = g.add_source(Weight{{"w\n\x1b", {}, {}}, {Split::inputs}}, {DType::f32, {2, 2}}, "p\r");
  g.outputs.push_back({"o\n", w});
  g.observed.push_back({"h\t", w});
  CHECK(dump(g) ==
        "%0 = Weight{w\\x0a\\x1b split by inputs}() : fp32 [2, 2]  # p\\x0d\n"
        "observed h\\x09 = %0\n"
        "output o\\x0a = %0\n");
}

TEST_CASE("an optional input that is absent is a dash") {
  Graph g;
  const Value q = g.add_source(Input{"q"}, {DType::f32, {1, 2, 4}});
  const Value k = g.add_source(Input{"k"}, {DType::f32, {1, 1, 2, 4}});
  const Value mask = g.add_source(Input{"m"}, {DType::boolean, {2, 2}});
  g.add(Attention{4, 1, false}, {q, k, k, {}, mask});
  CHECK(dump(g).find("Attention{head_dim 4 scale 1}(%0, %1, %1, -, %2)") != std::string::npos);
}

}  // namespace hf::test
