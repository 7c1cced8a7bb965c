// The type of every op's output, and what each refuses.
#include <doctest/doctest.h>

#include <optional>

#include "graph/graph.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

const Dim kBatch = Dim::symbol("b"), kSequence = Dim::symbol("s");

TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }
TensorType i64(Shape shape) { return {DType::i64, std::move(shape)}; }
TensorType boolean(Shape shape) { return {DType::boolean, std::move(shape)}; }

using Types = std::vector<std::optional<TensorType>>;  // nullopt: an optional input that is absent

TensorType inferred(const Op& op, const Types& inputs) {
  std::vector<const TensorType*> types;
  for (const auto& type : inputs) types.push_back(type ? &*type : nullptr);
  return infer(op, types);
}

void check_type(const Op& op, const Types& inputs, const TensorType& expected) {
  CAPTURE(name_of(op));
  const TensorType got = inferred(op, inputs);
  CHECK(got.dtype == expected.dtype);
  CHECK(to_string(got.shape) == to_string(expected.shape));
}

void check_refused(const Op& op, const Types& inputs, std::string_view sentence) {
  CAPTURE(name_of(op));
  const Caught c = error_of([&] { inferred(op, inputs); });
  // Broadcasting is the tensor room's, which blames its caller; Graph::add says that the graph is wrong.
  CHECK((c == ErrorKind::internal || c == ErrorKind::usage));
  CHECK_MESSAGE(c.says(sentence), c.message);
}

Constant constant(DType dtype, Sizes shape) {
  return {std::make_shared<const Tensor>(dtype, std::move(shape))};
}

}  // namespace

TEST_CASE("sources whose type is stated are not inferred") {
  check_refused(Input{"x"}, {}, "stated, not inferred");
  check_refused(Weight{{"w", {}, {}}, {}}, {}, "stated, not inferred");
  check_refused(AllGather{0}, {f32({2})}, "stated, not inferred");
}

TEST_CASE("Constant and Size") {
  check_type(constant(DType::i32, {2, 3}), {}, {DType::i32, {2, 3}});
  check_type(Size{kSequence}, {}, i64({}));
  check_refused(Constant{}, {}, "a constant has no value");
  check_refused(constant(DType::f32, {}), {f32({})}, "has 1 inputs, expected 0");
  check_refused(Size{kSequence}, {f32({})}, "has 1 inputs, expected 0");
}

TEST_CASE("Unary") {
  for (int kind = Unary::exp; kind <= Unary::cos; ++kind) {
    const Unary op{static_cast<Unary::Kind>(kind)};
    check_type(op, {f32({kBatch, 3})}, f32({kBatch, 3}));
    check_type(op, {TensorType{DType::f16, {}}}, {DType::f16, {}});
    check_refused(op, {i64({2})}, "input is int64, a float is expected");
    check_refused(op, {boolean({2})}, "a float is expected");
    check_refused(op, {}, "has 0 inputs, expected 1");
    check_refused(op, {f32({}), f32({})}, "has 2 inputs, expected 1");
    check_refused(op, {std::nullopt}, "input 0 is missing");
  }
  check_type(Unary{Unary::negate}, {i64({2})}, i64({2}));
  check_type(Unary{Unary::absolute}, {i64({2})}, i64({2}));
  check_refused(Unary{Unary::negate}, {boolean({2})}, "negate of bool");
  check_refused(Unary{Unary::absolute}, {boolean({2})}, "absolute of bool");
  check_type(Unary{Unary::logical_not}, {boolean({2})}, boolean({2}));
  check_refused(Unary{Unary::logical_not}, {f32({2})}, "logical_not needs bool");
}

TEST_CASE("Binary") {
  for (int kind = Binary::add; kind <= Binary::minimum; ++kind) {
    const Binary op{static_cast<Binary::Kind>(kind)};
    check_type(op, {f32({kBatch, 1, 4}), f32({kSequence, 4})}, f32({kBatch, kSequence, 4}));
    check_type(op, {i64({}), i64({kSequence})}, i64({kSequence}));
    check_refused(op, {boolean({2}), boolean({2})}, "of bool");
    check_refused(op, {f32({2}), i64({2})}, "inputs are fp32 and int64, one dtype is expected");
    check_refused(op, {f32({2}), f32({3})}, "shapes [2] and [3] do not broadcast");
    check_refused(op, {f32({kBatch}), f32({kSequence})}, "shapes [b] and [s] do not broadcast");
    check_refused(op, {f32({2})}, "has 1 inputs, expected 2");
  }
  for (const auto kind : {Binary::logical_and, Binary::logical_or}) {
    check_type(Binary{kind}, {boolean({2, 1}), boolean({3})}, boolean({2, 3}));
    check_refused(Binary{kind}, {f32({2}), f32({2})}, "of fp32");
  }
}

TEST_CASE("Compare") {
  for (const auto kind :
       {Compare::equal, Compare::less, Compare::less_or_equal, Compare::greater, Compare::greater_or_equal}) {
    check_type(Compare{kind}, {i64({kBatch, 1}), i64({kSequence})}, boolean({kBatch, kSequence}));
    check_refused(Compare{kind}, {i64({2}), f32({2})}, "one dtype is expected");
    check_refused(Compare{kind}, {i64({2}), i64({3})}, "do not broadcast");
  }
}

TEST_CASE("Where") {
  check_type(Where{}, {boolean({kBatch, 1}), f32({}), f32({3})}, f32({kBatch, 3}));
  check_refused(Where{}, {f32({2}), f32({2}), f32({2})}, "the condition must be bool");
  check_refused(Where{}, {boolean({2}), f32({2}), i64({2})}, "one dtype is expected");
  check_refused(Where{}, {boolean({3}), f32({2}), f32({2})}, "do not broadcast");
  check_refused(Where{}, {boolean({2}), f32({2})}, "has 2 inputs, expected 3");
}

TEST_CASE("Cast") {
  check_type(Cast{DType::boolean}, {i64({kBatch})}, boolean({kBatch}));
  check_refused(Cast{DType::f32}, {}, "has 0 inputs");
}

TEST_CASE("MatMul") {
  check_type(MatMul{}, {f32({2, 3}), f32({3, 5})}, f32({2, 5}));
  check_type(MatMul{}, {f32({kBatch, 1, kSequence, 4}), f32({7, 4, kSequence})},
             f32({kBatch, 7, kSequence, kSequence}));
  check_refused(MatMul{}, {f32({2, 3}), f32({2, 3})}, "shapes [2, 3] and [2, 3] do not multiply");
  check_refused(MatMul{}, {f32({3}), f32({3, 5})}, "do not multiply");
  check_refused(MatMul{}, {f32({2, 3}), f32({3})}, "do not multiply");
  check_refused(MatMul{}, {f32({2, 2, 3}), f32({4, 3, 5})}, "do not broadcast");
  check_refused(MatMul{}, {i64({2, 3}), i64({3, 5})}, "a float is expected");
  check_refused(MatMul{}, {f32({2, 3}), TensorType{DType::f16, {3, 5}}}, "one dtype is expected");
}

TEST_CASE("Reduce") {
  const TensorType x = f32({kBatch, kSequence, 4});
  check_type(Reduce{Reduce::mean, {2}, true}, {x}, f32({kBatch, kSequence, 1}));
  check_type(Reduce{Reduce::sum, {0, 2}, false}, {x}, f32({kSequence}));
  check_type(Reduce{Reduce::maximum, {0, 1, 2}, false}, {i64({2, 2, 2})}, i64({}));
  check_type(Reduce{Reduce::sum, {}, false}, {x}, x);
  check_refused(Reduce{Reduce::sum, {3}, true}, {x}, "axis 3 is not in shape [b, s, 4]");
  check_refused(Reduce{Reduce::sum, {-1}, true}, {x}, "axis -1 is not in shape");
  check_refused(Reduce{Reduce::sum, {2, 1}, true}, {x}, "axes must ascend");
  check_refused(Reduce{Reduce::sum, {1, 1}, true}, {x}, "axes must ascend");
  check_refused(Reduce{Reduce::mean, {0}, true}, {i64({2})}, "mean of int64");
  check_refused(Reduce{Reduce::maximum, {0}, true}, {boolean({2})}, "maximum of bool");
}

TEST_CASE("ArgMax and CumSum") {
  check_type(ArgMax{1, false}, {f32({kBatch, 4})}, i64({kBatch}));
  check_type(ArgMax{1, true}, {f32({kBatch, 4})}, i64({kBatch, 1}));
  check_refused(ArgMax{2, true}, {f32({kBatch, 4})}, "axis 2 is not in shape");
  check_type(CumSum{1}, {i64({kBatch, kSequence})}, i64({kBatch, kSequence}));
  check_refused(CumSum{-1}, {i64({2})}, "axis -1 is not in shape");
  check_refused(CumSum{0}, {boolean({2})}, "cumsum of bool");
}

TEST_CASE("Gather") {
  check_type(Gather{0}, {f32({9, 4}), i64({kBatch, kSequence})}, f32({kBatch, kSequence, 4}));
  check_type(Gather{1}, {f32({2, 9, 4}), i64({})}, f32({2, 4}));
  check_refused(Gather{2}, {f32({9, 4}), i64({2})}, "axis 2 is not in shape");
  check_refused(Gather{0}, {f32({}), i64({2})}, "axis 0 is not in shape []");
  check_refused(Gather{0}, {f32({9}), f32({2})}, "indices must be int64");
}

TEST_CASE("Reshape") {
  check_type(Reshape{{kBatch, kSequence, -1, 4}}, {f32({kBatch, kSequence, 12})},
             f32({kBatch, kSequence, 3, 4}));
  check_type(Reshape{{kBatch * kSequence, 12}}, {f32({kBatch, kSequence, 12})},
             f32({kBatch * kSequence, 12}));
  check_type(Reshape{{}}, {f32({1, 1})}, f32({}));
  check_type(Reshape{{0, 3}}, {f32({5, 0})}, f32({0, 3}));
  check_refused(Reshape{{5}}, {f32({2, 3})}, "shape [2, 3] cannot become [5]");
  check_refused(Reshape{{-1, 5}}, {f32({2, 3})}, "cannot become [-1, 5]");
  check_refused(Reshape{{-1, -1}}, {f32({2, 3})}, "two sizes of a reshape are left open");
  check_refused(Reshape{{-1, 0}}, {f32({0})}, "a reshape with an open size has a zero one");
  check_refused(Reshape{{-2, -3}}, {f32({2, 3})}, "has a size of -2");
  check_refused(Reshape{{kBatch}}, {f32({kSequence})}, "shape [s] cannot become [b]");
}

TEST_CASE("Transpose") {
  check_type(Transpose{{2, 0, 1}}, {f32({kBatch, 3, 4})}, f32({4, kBatch, 3}));
  for (const std::vector<int>& bad : {std::vector<int>{0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 2}, {}})
    check_refused(Transpose{bad}, {f32({2, 3})}, "not a permutation of the axes of [2, 3]");
}

TEST_CASE("Slice") {
  check_type(Slice{1, 1, 3}, {f32({2, 4})}, f32({2, 2}));
  check_type(Slice{0, 0, kSequence}, {f32({512, 4})}, f32({kSequence, 4}));
  check_type(Slice{0, kSequence - Dim(1), kSequence}, {f32({kSequence})}, f32({1}));
  check_type(Slice{0, 1, 8, 3}, {f32({9})}, f32({3}));  // 1, 4, 7
  check_type(Slice{0, 2, 2}, {f32({9})}, f32({0}));
  check_refused(Slice{2, 0, 1}, {f32({2, 4})}, "axis 2 is not in shape");
  check_refused(Slice{0, 0, 3}, {f32({2})}, "slice 0:3 is not within an axis of size 2");
  check_refused(Slice{0, -1, 1}, {f32({2})}, "slice -1:1 is not within");
  check_refused(Slice{0, 2, 1}, {f32({2})}, "a slice ends before it begins");
  check_refused(Slice{0, 4, 1, 8}, {f32({4})}, "a slice ends before it begins");
  check_refused(Slice{0, 0, 2, 0}, {f32({2})}, "a slice's step must be positive");
  check_refused(Slice{0, 0, 2, -1}, {f32({2})}, "a slice's step must be positive");
}

TEST_CASE("Concat") {
  check_type(Concat{1}, {f32({kBatch, 2}), f32({kBatch, kSequence}), f32({kBatch, 1})},
             f32({kBatch, kSequence + Dim(3)}));
  check_refused(Concat{0}, {}, "nothing to join");
  check_refused(Concat{1}, {f32({2})}, "axis 1 is not in shape");
  check_refused(Concat{0}, {f32({2}), i64({2})}, "one dtype is expected");
  check_refused(Concat{0}, {f32({2}), f32({2, 2})}, "shapes of different rank are joined");
  check_refused(Concat{0}, {f32({2, 3}), f32({2, 4})}, "input has shape");
}

TEST_CASE("Expand") {
  check_type(Expand{{kBatch, 3, 4}}, {f32({3, 1})}, f32({kBatch, 3, 4}));
  check_refused(Expand{{4}}, {f32({3})}, "do not broadcast");
  check_refused(Expand{{1}}, {f32({3})}, "[1] is expected");
  check_refused(Expand{{3}}, {f32({2, 3})}, "[3] is expected");
  check_refused(Expand{{-1}}, {f32({1})}, "has a size of -1");
}

TEST_CASE("Range") {
  check_type(Range{0, kSequence}, {}, i64({kSequence}));
  check_type(Range{kBatch, kBatch + kSequence}, {}, i64({kSequence}));
  check_type(Range{3, 3}, {}, i64({0}));
  check_refused(Range{3, 2}, {}, "range 3:2 has a size of -1");
  check_refused(Range{0, 3}, {i64({})}, "has 1 inputs, expected 0");
}

TEST_CASE("AllReduce") {
  check_type(AllReduce{}, {f32({kBatch})}, f32({kBatch}));
  check_refused(AllReduce{}, {i64({2})}, "a float is expected");
  check_refused(AllReduce{}, {}, "has 0 inputs");
}

TEST_CASE("Linear") {
  check_type(Linear{}, {f32({kBatch, kSequence, 3}), f32({5, 3})}, f32({kBatch, kSequence, 5}));
  check_type(Linear{}, {f32({3}), f32({5, 3}), f32({5})}, f32({5}));
  check_refused(Linear{}, {f32({2, 4}), f32({5, 3})}, "input [2, 4] does not fit weight [5, 3]");
  check_refused(Linear{}, {f32({2, 3}), f32({3})}, "a weight [out, in] is expected");
  check_refused(Linear{}, {f32({}), f32({5, 3})}, "a weight [out, in] is expected");
  check_refused(Linear{}, {f32({2, 3}), f32({5, 3}), f32({3})}, "[5] is expected");
  check_refused(Linear{}, {f32({2, 3}), TensorType{DType::bf16, {5, 3}}}, "one dtype is expected");
  check_refused(Linear{}, {i64({2, 3}), i64({5, 3})}, "a float is expected");
  check_refused(Linear{}, {f32({2, 3})}, "has 1 inputs, expected 2 to 3");
}

TEST_CASE("LayerNorm") {
  check_type(LayerNorm{1e-5f}, {f32({kBatch, 4}), f32({4}), f32({4})}, f32({kBatch, 4}));
  check_refused(LayerNorm{1e-5f}, {f32({kBatch, 4}), f32({3}), f32({4})}, "[4] is expected");
  check_refused(LayerNorm{1e-5f}, {f32({kBatch, 4}), f32({4}), f32({1})}, "[4] is expected");
  check_refused(LayerNorm{1e-5f}, {f32({}), f32({}), f32({})}, "a scalar has no axis to normalize");
  check_refused(LayerNorm{1e-5f}, {i64({4}), i64({4}), i64({4})}, "a float is expected");
  check_refused(LayerNorm{1e-5f}, {f32({4}), std::nullopt, f32({4})}, "input 1 is missing");
  check_refused(LayerNorm{1e-5f}, {f32({4}), f32({4})}, "has 2 inputs, expected 3");
}

TEST_CASE("Gelu and Softmax") {
  check_type(Gelu{Gelu::erf}, {f32({kBatch})}, f32({kBatch}));
  check_refused(Gelu{Gelu::tanh}, {i64({2})}, "a float is expected");
  check_type(Softmax{1}, {f32({kBatch, 4})}, f32({kBatch, 4}));
  check_refused(Softmax{2}, {f32({kBatch, 4})}, "axis 2 is not in shape");
  check_refused(Softmax{0}, {boolean({2})}, "a float is expected");
}

TEST_CASE("Attention") {
  const Dim total = kSequence + Dim(2);
  const TensorType q = f32({kBatch, kSequence, 24}), k = f32({kBatch, 3, total, 4});
  const Attention op{4, 0.5f, false};
  check_type(op, {q, k, k}, q);
  check_type(op, {q, k, k, f32({1, 6, kSequence, total})}, q);
  check_type(op, {q, k, k, std::nullopt, boolean({kBatch, 1, 1, total})}, q);
  check_type(op, {q, k, k, f32({}), boolean({total})}, q);
  check_refused(op, {q, k}, "has 2 inputs, expected 3 to 5");
  check_refused(op, {f32({kBatch, 24}), k, k}, "attention wants q of rank 3, k and v of rank 4");
  check_refused(op, {q, f32({kBatch, kSequence, 12}), k}, "attention wants q of rank 3");
  check_refused(op, {q, k, f32({kBatch, 3, kSequence, 4})}, "k has shape");
  check_refused(op, {q, f32({kBatch, 3, total, 5}), f32({kBatch, 3, total, 5})}, "k has shape");
  check_refused(op, {q, f32({1, 3, total, 4}), f32({1, 3, total, 4})}, "k has shape");
  check_refused(op, {f32({kBatch, kSequence, 26}), k, k}, "q's width 26 is not whole heads of 4");
  check_refused(op, {q, f32({kBatch, 4, total, 4}), f32({kBatch, 4, total, 4})},
                "6 heads do not share 4 key heads evenly");
  check_refused(op, {q, f32({kBatch, 0, total, 4}), f32({kBatch, 0, total, 4})},
                "6 heads do not share 0 key heads evenly");
  check_refused(Attention{0, 1.0f, false}, {q, k, k}, "head_dim is 0");
  check_refused(op, {q, k, k, f32({kBatch, 5, kSequence, total})}, "do not broadcast");
  check_refused(op, {q, k, k, f32({2, 1, 1, 1, 1})}, "is expected");
  check_refused(op, {q, k, k, i64({})}, "one dtype is expected");
  check_refused(op, {q, k, k, std::nullopt, f32({})}, "the mask must be bool");
  check_refused(op, {i64({kBatch, kSequence, 24}), i64({kBatch, 3, total, 4}), i64({kBatch, 3, total, 4})},
                "a float is expected");
}

}  // namespace hf::test
