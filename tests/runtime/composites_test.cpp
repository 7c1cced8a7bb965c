// Each composite's kernel against its definition: on fp32 the two agree, and the kernel is as near to the
// definition in fp64 as a few roundings.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "run_op.h"

using namespace hf;
using namespace hf::test;

namespace {

Tensor widened(const Tensor* t) {
  return is_float(t->dtype()) ? converted(t->view(), DType::f64) : Tensor::copy_of(t->view());
}

// How far the kernel is from the definition computed in fp64.
double error_of_kernel(const Op& op, const std::vector<const Tensor*>& inputs) {
  std::vector<Tensor> wide;
  std::vector<const Tensor*> exact;
  wide.reserve(inputs.size());
  for (const Tensor* t : inputs) {
    if (t != nullptr) wide.push_back(widened(t));
    exact.push_back(t == nullptr ? nullptr : &wide.back());
  }
  const Graph definition = decompose(graph_of(op, exact));
  for (const Node& node : definition.nodes) REQUIRE_FALSE(composite(node.op));
  return difference(run_op(op, inputs), run_graph(definition, exact));
}

// How far the kernel is from the definition in fp32, run by the primitives' kernels.
double error_of_definition(const Op& op, const std::vector<const Tensor*>& inputs) {
  return difference(run_op(op, inputs), run_graph(decompose(graph_of(op, inputs)), inputs));
}

Tensor f32(Sizes shape, std::uint64_t seed, double least = -2, double greatest = 2) {
  return random(DType::f32, std::move(shape), seed, least, greatest);
}

}  // namespace

TEST_CASE("Linear is its definition") {
  struct Case {
    Sizes x;
    std::int64_t out;
  };
  for (const Case& c : {Case{{5, 7}, 3}, Case{{2, 11, 36}, 131}, Case{{1, 1, 1}, 1}, Case{{3, 65}, 129},
                        Case{{200, 33}, 17}, Case{{2, 128, 64}, 256}}) {
    CAPTURE(to_string(c.x));
    const Tensor x = f32(c.x, 1), w = f32({c.out, c.x.back()}, 2), b = f32({c.out}, 3);
    CHECK(error_of_kernel(Linear{}, {&x, &w, &b}) < 2e-5);
    CHECK(error_of_kernel(Linear{}, {&x, &w}) < 2e-5);
    CHECK(error_of_definition(Linear{}, {&x, &w, &b}) < 2e-5);
  }
}

TEST_CASE("Linear over nothing") {
  const Tensor none = f32({0, 4}, 1), x = f32({3, 0}, 1), w = f32({5, 4}, 2), narrow = f32({5, 0}, 2),
               b = f32({5}, 3);
  CHECK(run_op(Linear{}, {&none, &w, &b}).shape() == Sizes{0, 5});
  const Tensor bias_alone = run_op(Linear{}, {&x, &narrow, &b});
  for (std::size_t i = 0; i < 15; ++i) CHECK(bias_alone.as<float>()[i] == b.as<float>()[i % 5]);
}

TEST_CASE("LayerNorm is its definition") {
  for (const Sizes& shape :
       {Sizes{2, 11, 36}, Sizes{1}, Sizes{3, 1}, Sizes{7, 767}, Sizes{0, 5}, Sizes{40, 1024}}) {
    CAPTURE(to_string(shape));
    const Tensor x = f32(shape, 4), w = f32({shape.back()}, 5), b = f32({shape.back()}, 6);
    CHECK(error_of_kernel(LayerNorm{1e-12f}, {&x, &w, &b}) < 3e-6);
    CHECK(error_of_definition(LayerNorm{1e-5f}, {&x, &w, &b}) < 3e-6);
  }
}

TEST_CASE("LayerNorm keeps its digits where the mean is large") {
  const Tensor x = f32({4, 256}, 7, 9999, 10001), w = f32({256}, 8), b = f32({256}, 9);
  CHECK(error_of_kernel(LayerNorm{1e-5f}, {&x, &w, &b}) < 3e-6);
}

TEST_CASE("LayerNorm of a constant row is the bias") {
  const Tensor x = f32({2, 9}, 7, 3, 3), w = f32({9}, 8), b = f32({9}, 9);
  const Tensor y = run_op(LayerNorm{1e-5f}, {&x, &w, &b});
  for (std::size_t i = 0; i < 18; ++i) CHECK(y.as<float>()[i] == doctest::Approx(b.as<float>()[i % 9]));
}

TEST_CASE("Gelu is its definition") {
  for (const Gelu::Kind kind : {Gelu::erf, Gelu::tanh}) {
    for (const Sizes& shape : {Sizes{1000}, Sizes{3, 5, 7}, Sizes{}, Sizes{0}}) {
      const Tensor x = f32(shape, 10, -8, 8);
      CHECK(error_of_kernel(Gelu{kind}, {&x}) < 2e-6);
      CHECK(error_of_definition(Gelu{kind}, {&x}) < 2e-6);
    }
  }
}

TEST_CASE("Softmax is its definition along each axis") {
  const Tensor x = f32({3, 4, 5, 6}, 11, -30, 30), none = f32({2, 0, 3}, 1), row = f32({1, 1000}, 2);
  for (int axis = 0; axis < 4; ++axis) {
    CHECK(error_of_kernel(Softmax{axis}, {&x}) < 1e-6);
    CHECK(error_of_definition(Softmax{axis}, {&x}) < 1e-6);
  }
  CHECK(error_of_kernel(Softmax{1}, {&row}) < 1e-6);
  CHECK(run_op(Softmax{2}, {&none}).shape() == Sizes{2, 0, 3});
}

TEST_CASE("Softmax does not overflow, and NaN stays NaN") {
  const Tensor large = tensor(DType::f32, {1, 3}, {3e38, 3e38, -3e38}),
               bad = tensor(DType::f32, {1, 2}, {NAN, 1});
  CHECK(doubles(run_op(Softmax{1}, {&large})) == std::vector<double>{0.5, 0.5, 0});
  CHECK(std::isnan(run_op(Softmax{1}, {&bad}).as<float>()[1]));
}

TEST_CASE("Attention is its definition") {
  struct Case {
    std::int64_t batch, sequence, heads, kv_heads, total, head_dim;
    bool causal;
  };
  for (const Case& c :
       {Case{2, 11, 3, 3, 11, 12, false}, Case{2, 11, 4, 2, 11, 8, true}, Case{1, 1, 1, 1, 1, 1, true},
        Case{1, 3, 6, 1, 10, 5, true}, Case{2, 130, 2, 2, 130, 16, true}, Case{3, 64, 1, 1, 7, 4, false}}) {
    CAPTURE(c.sequence);
    const Tensor q = f32({c.batch, c.sequence, c.heads * c.head_dim}, 12),
                 k = f32({c.batch, c.kv_heads, c.total, c.head_dim}, 13),
                 v = f32({c.batch, c.kv_heads, c.total, c.head_dim}, 14);
    const Attention op{c.head_dim, 0.37f, c.causal};
    CHECK(error_of_kernel(op, {&q, &k, &v}) < 5e-6);
    CHECK(error_of_definition(op, {&q, &k, &v}) < 5e-6);

    Tensor mask = random(DType::i64, {c.batch, 1, 1, c.total}, 15, 0, 2);
    mask = converted(mask.view(), DType::boolean);
    const Tensor bias = f32({c.heads, c.sequence, c.total}, 16), scalar_bias = f32({c.total}, 17);
    CHECK(error_of_kernel(op, {&q, &k, &v, nullptr, &mask}) < 5e-6);
    CHECK(error_of_kernel(op, {&q, &k, &v, &bias}) < 5e-6);
    CHECK(error_of_definition(op, {&q, &k, &v, &scalar_bias, &mask}) < 5e-6);
  }
}

TEST_CASE("Attention with a mask for each head and query") {
  const Tensor q = f32({2, 5, 12}, 18), k = f32({2, 3, 5, 4}, 19), v = f32({2, 3, 5, 4}, 20);
  const Tensor flags = random(DType::i64, {2, 3, 5, 5}, 21, 0, 2);
  const Tensor mask = converted(flags.view(), DType::boolean);
  CHECK(error_of_kernel(Attention{4, 0.5f, false}, {&q, &k, &v, nullptr, &mask}) < 5e-6);
}

TEST_CASE("A row of attention that sees nothing is uniform") {
  const Tensor q = f32({1, 2, 4}, 22), k = f32({1, 1, 3, 4}, 23), v = f32({1, 1, 3, 4}, 24);
  const Tensor mask(DType::boolean, {1, 1, 1, 3});
  const Attention op{4, 0.5f, false};
  const Tensor y = run_op(op, {&q, &k, &v, nullptr, &mask});
  for (std::size_t i = 0; i < 8; ++i) {
    const auto values = v.as<float>();
    CHECK(y.as<float>()[i] == doctest::Approx((values[i % 4] + values[4 + i % 4] + values[8 + i % 4]) / 3));
  }
  CHECK(error_of_definition(op, {&q, &k, &v, nullptr, &mask}) < 1e-6);
  CHECK(error_of_definition(Attention{4, 0.5f, true}, {&q, &k, &v, nullptr, &mask}) < 1e-6);
}

TEST_CASE("Attention over an empty batch or sequence") {
  const Tensor q = f32({0, 5, 4}, 1), k = f32({0, 1, 5, 4}, 1), none = f32({2, 0, 4}, 1),
               key = f32({2, 1, 0, 4}, 1);
  CHECK(run_op(Attention{4, 1, false}, {&q, &k, &k}).shape() == Sizes{0, 5, 4});
  CHECK(run_op(Attention{4, 1, true}, {&none, &key, &key}).shape() == Sizes{2, 0, 4});
}

TEST_CASE("Results are the same bits on each run, for each number of threads") {
  const Tensor x = f32({2, 70, 64}, 25), w = f32({192, 64}, 26), b = f32({192}, 27);
  const Tensor q = f32({2, 70, 64}, 28), k = f32({2, 4, 70, 16}, 29), v = f32({2, 4, 70, 16}, 30);
  for (const std::size_t threads : {1u, 2u, 3u}) {
    const Tensor linear = run_op(Linear{}, {&x, &w, &b}, threads);
    const Tensor mixed = run_op(Attention{16, 0.25f, true}, {&q, &k, &v}, threads);
    for (int again = 0; again < 3; ++again) {
      CHECK(difference(linear, run_op(Linear{}, {&x, &w, &b}, threads)) == 0);
      CHECK(difference(mixed, run_op(Attention{16, 0.25f, true}, {&q, &k, &v}, threads)) == 0);
    }
  }
}
