// Arithmetic: operators that mean exactly the op.
#include "base/error.h"
#include "converters/onnx/lowering.h"

namespace hf::onnx {
namespace {

const char* operator_of(Unary::Kind kind) {
  switch (kind) {
    case Unary::negate:
      return "Neg";
    case Unary::absolute:
      return "Abs";
    case Unary::exp:
      return "Exp";
    case Unary::log:
      return "Log";
    case Unary::sqrt:
      return "Sqrt";
    case Unary::reciprocal:
      return "Reciprocal";
    case Unary::erf:
      return "Erf";
    case Unary::tanh:
      return "Tanh";
    case Unary::sigmoid:
      return "Sigmoid";
    case Unary::relu:
      return "Relu";
    case Unary::sin:
      return "Sin";
    case Unary::cos:
      return "Cos";
    case Unary::logical_not:
      return "Not";
  }
  throw Error(ErrorKind::internal, "an unknown kind of Unary");
}

const char* operator_of(Binary::Kind kind) {
  switch (kind) {
    case Binary::add:
      return "Add";
    case Binary::subtract:
      return "Sub";
    case Binary::multiply:
      return "Mul";
    case Binary::divide:
      return "Div";
    case Binary::power:
      return "Pow";
    case Binary::minimum:
      return "Min";
    case Binary::maximum:
      return "Max";
    case Binary::logical_and:
      return "And";
    case Binary::logical_or:
      return "Or";
  }
  throw Error(ErrorKind::internal, "an unknown kind of Binary");
}

const char* operator_of(Compare::Kind kind) {
  switch (kind) {
    case Compare::equal:
      return "Equal";
    case Compare::less:
      return "Less";
    case Compare::less_or_equal:
      return "LessOrEqual";
    case Compare::greater:
      return "Greater";
    case Compare::greater_or_equal:
      return "GreaterOrEqual";
  }
  throw Error(ErrorKind::internal, "an unknown kind of Compare");
}

const char* operator_of(Reduce::Kind kind) {
  switch (kind) {
    case Reduce::sum:
      return "ReduceSum";
    case Reduce::mean:
      return "ReduceMean";
    case Reduce::maximum:
      return "ReduceMax";
    case Reduce::minimum:
      return "ReduceMin";
  }
  throw Error(ErrorKind::internal, "an unknown kind of Reduce");
}

}  // namespace

void Lowering::lower(const Unary& op, const Node& node, std::size_t i) {
  define(i, operator_of(op.kind), operands(node));
}

void Lowering::lower(const Binary& op, const Node& node, std::size_t i) {
  define(i, operator_of(op.kind), operands(node));
}

void Lowering::lower(const Compare& op, const Node& node, std::size_t i) {
  define(i, operator_of(op.kind), operands(node));
}

void Lowering::lower(const Where&, const Node& node, std::size_t i) { define(i, "Where", operands(node)); }

void Lowering::lower(const Cast& op, const Node& node, std::size_t i) {
  define(i, "Cast", operands(node), {{"to", std::int64_t{to_onnx(op.to)}}});
}

void Lowering::lower(const MatMul&, const Node& node, std::size_t i) { define(i, "MatMul", operands(node)); }

// Until opset 18 only ReduceSum takes its axes as an input.
void Lowering::lower(const Reduce& op, const Node& node, std::size_t i) {
  const std::vector<std::int64_t> axes(op.axes.begin(), op.axes.end());
  const std::int64_t keep = op.keep ? 1 : 0;
  const std::string x = operand(node.inputs[0]);
  if (op.kind == Reduce::sum)
    define(i, "ReduceSum", {x, nodes_.integers(axes)}, {{"keepdims", keep}});
  else
    define(i, operator_of(op.kind), {x}, {{"axes", axes}, {"keepdims", keep}});
}

void Lowering::lower(const ArgMax& op, const Node& node, std::size_t i) {
  define(i, "ArgMax", operands(node),
         {{"axis", std::int64_t{op.axis}}, {"keepdims", std::int64_t{op.keep ? 1 : 0}}});
}

void Lowering::lower(const CumSum& op, const Node& node, std::size_t i) {
  const std::string x = operand(node.inputs[0]);
  define(i, "CumSum", {x, nodes_.integer(op.axis)});
}

}  // namespace hf::onnx
