// The graph's kinds as the kernels know them. The kernels include no graph header, so each kind is spelled
// twice; this is where the two spellings are held together.
#pragma once
#include "graph/op.h"
#include "runtime/cuda/kernels.h"

namespace hf::runtime::cuda {

constexpr UnaryKind kind_of(Unary::Kind kind) {
  switch (kind) {
    case Unary::negate:
      return UnaryKind::negate;
    case Unary::absolute:
      return UnaryKind::absolute;
    case Unary::exp:
      return UnaryKind::exp;
    case Unary::log:
      return UnaryKind::log;
    case Unary::sqrt:
      return UnaryKind::sqrt;
    case Unary::reciprocal:
      return UnaryKind::reciprocal;
    case Unary::erf:
      return UnaryKind::erf;
    case Unary::tanh:
      return UnaryKind::tanh;
    case Unary::sigmoid:
      return UnaryKind::sigmoid;
    case Unary::relu:
      return UnaryKind::relu;
    case Unary::sin:
      return UnaryKind::sin;
    case Unary::cos:
      return UnaryKind::cos;
    case Unary::logical_not:
      break;
  }
  return UnaryKind::logical_not;
}

constexpr BinaryKind kind_of(Binary::Kind kind) {
  switch (kind) {
    case Binary::add:
      return BinaryKind::add;
    case Binary::subtract:
      return BinaryKind::subtract;
    case Binary::multiply:
      return BinaryKind::multiply;
    case Binary::divide:
      return BinaryKind::divide;
    case Binary::power:
      return BinaryKind::power;
    case Binary::minimum:
      return BinaryKind::minimum;
    case Binary::maximum:
      return BinaryKind::maximum;
    case Binary::logical_and:
      return BinaryKind::logical_and;
    case Binary::logical_or:
      break;
  }
  return BinaryKind::logical_or;
}

constexpr CompareKind kind_of(Compare::Kind kind) {
  switch (kind) {
    case Compare::equal:
      return CompareKind::equal;
    case Compare::less:
      return CompareKind::less;
    case Compare::less_or_equal:
      return CompareKind::less_or_equal;
    case Compare::greater:
      return CompareKind::greater;
    case Compare::greater_or_equal:
      break;
  }
  return CompareKind::greater_or_equal;
}

constexpr ReduceKind kind_of(Reduce::Kind kind) {
  switch (kind) {
    case Reduce::sum:
      return ReduceKind::sum;
    case Reduce::mean:
      return ReduceKind::mean;
    case Reduce::maximum:
      return ReduceKind::maximum;
    case Reduce::minimum:
      break;
  }
  return ReduceKind::minimum;
}

constexpr GeluKind kind_of(Gelu::Kind kind) { return kind == Gelu::erf ? GeluKind::erf : GeluKind::tanh; }

}  // namespace hf::runtime::cuda
