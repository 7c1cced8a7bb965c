// Where elements lie: reshapes, slices and broadcasts, whose symbolic sizes become constants where 0 ("as the
// input's") and -1 ("what is left") suffice, and arithmetic on shapes otherwise.
#include <limits>

#include "converters/onnx/lowering.h"

namespace hf::onnx {
namespace {

// `to` as numbers, where Reshape's 0 and -1 stand for all symbolic sizes; empty where they do not.
std::vector<std::int64_t> reshape_constant(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> out;
  bool open = false;
  for (const Dim& dim : to) open = open || dim == Dim(-1);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].is_number() && to[i].number() != 0) {
      out.push_back(to[i].number());
    } else if (i < from.size() && from[i] == to[i]) {
      out.push_back(0);
    } else if (!open && !to[i].is_number()) {
      out.push_back(-1);
      open = true;
    } else {
      return {};
    }
  }
  return out;
}

}  // namespace

void Lowering::lower(const Gather& op, const Node& node, std::size_t i) {
  define(i, "Gather", operands(node), {{"axis", std::int64_t{op.axis}}});
}

void Lowering::lower(const Reshape& op, const Node& node, std::size_t i) {
  const std::string x = operand(node.inputs[0]);
  const std::vector<std::int64_t> numbers = reshape_constant(shape(node.inputs[0]), op.to);
  if (!numbers.empty() || op.to.empty())
    define(i, "Reshape", {x, nodes_.integers(numbers)});
  else  // computed sizes are meant as they are, 0 included
    define(i, "Reshape", {x, sizes_.shape(node.outputs[0].shape)}, {{"allowzero", std::int64_t{1}}});
}

void Lowering::lower(const Transpose& op, const Node& node, std::size_t i) {
  const std::vector<std::int64_t> permutation(op.permutation.begin(), op.permutation.end());
  define(i, "Transpose", operands(node), {{"perm", permutation}});
}

void Lowering::lower(const Slice& op, const Node& node, std::size_t i) {
  const std::string x = operand(node.inputs[0]);
  const Dim& size = shape(node.inputs[0])[static_cast<std::size_t>(op.axis)];
  const std::string begin = sizes_.vector(op.begin);
  const std::string end =
      op.end == size ? nodes_.integers({std::numeric_limits<std::int64_t>::max()}) : sizes_.vector(op.end);
  std::vector<std::string> inputs{x, begin, end, nodes_.integers({op.axis})};
  if (op.step != 1) inputs.push_back(nodes_.integers({op.step}));
  define(i, "Slice", inputs);
}

void Lowering::lower(const Concat& op, const Node& node, std::size_t i) {
  define(i, "Concat", operands(node), {{"axis", std::int64_t{op.axis}}});
}

// Expand broadcasts both ways, so a size that the input has already is 1 in the shape.
void Lowering::lower(const Expand& op, const Node& node, std::size_t i) {
  const std::string x = operand(node.inputs[0]);
  const Shape& from = shape(node.inputs[0]);
  Shape to = op.to;
  for (std::size_t k = 0; k < from.size(); ++k) {
    Dim& size = to[to.size() - 1 - k];
    if (size == from[from.size() - 1 - k]) size = 1;
  }
  define(i, "Expand", {x, sizes_.shape(to)});
}

void Lowering::lower(const Range& op, const Node&, std::size_t i) {
  const std::string begin = sizes_.scalar(op.begin), end = sizes_.scalar(op.end);
  define(i, "Range", {begin, end, nodes_.integer(1)});
}

}  // namespace hf::onnx
