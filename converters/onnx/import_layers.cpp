// Operators that are composites here.
#include <array>

#include "base/error.h"
#include "converters/onnx/importer.h"

namespace hf::onnx {
namespace {

using Items = std::vector<Item>;

Items softmax(Call& c) {
  const Value x = c.value(0);
  return {c.add(Softmax{Call::axis(c.integer("axis", -1), c.shape(0).size())}, {x})};
}

Items layer_norm(Call& c) {
  const Value x = c.value(0);
  const std::size_t rank = c.shape(0).size();
  if (rank == 0 || Call::axis(c.integer("axis", -1), rank) != static_cast<int>(rank) - 1)
    throw Error(ErrorKind::unsupported, "only the last axis is normalized");
  if (c.integer("stash_type", 1) != 1)
    throw Error(ErrorKind::unsupported, "a stash_type other than float is not supported");
  const Value weight = c.value(1);
  Value bias;
  if (c.has(2)) {
    bias = c.value(2);
  } else {
    const Value zero = c.cast(c.constant(Tensor::scalar(0.0f)), c.dtype(0));
    bias = c.add(Expand{{c.shape(0).back()}}, {zero});
  }
  return {c.add(LayerNorm{c.number("epsilon", 1e-5f)}, {x, weight, bias})};
}

Value scaled(Call& c, Value x, float by) {
  if (by == 1) return x;
  const Value factor = c.cast(c.constant(Tensor::scalar(by)), c.graph().type(x).dtype);
  return c.add(Binary{Binary::multiply}, {x, factor});
}

// alpha A B + beta C, with A or B transposed
Items gemm(Call& c) {
  Value a = c.value(0), b = c.value(1);
  if (c.integer("transA", 0) != 0) a = c.add(Transpose{{1, 0}}, {a});
  if (c.integer("transB", 0) != 0) b = c.add(Transpose{{1, 0}}, {b});
  const Value product = scaled(c, c.add(MatMul{}, {a, b}), c.number("alpha", 1.0f));
  if (!c.has(2)) return {product};
  const Value bias = scaled(c, c.value(2), c.number("beta", 1.0f));
  return {c.add(Binary{Binary::add}, {product, bias})};
}

constexpr std::array kOperators{
    Operator{"Gemm", "alpha beta transA transB", gemm},
    Operator{"LayerNormalization", "axis epsilon stash_type", layer_norm},
    Operator{"Softmax", "axis", softmax},
};

}  // namespace

std::span<const Operator> layer_operators() { return kOperators; }

}  // namespace hf::onnx
