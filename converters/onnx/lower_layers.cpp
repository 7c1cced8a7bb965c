// Layers that ONNX has whole, or as an idiom that loaders fuse.
#include "base/error.h"
#include "converters/onnx/lowering.h"

namespace hf::onnx {

std::string Lowering::stored_name(const Weight& weight) const {
  const std::string name = find_name(*checkpoint_, weight.ref);
  if (name.empty())
    throw Error(ErrorKind::not_found, checkpoint_->subject() + ": no tensor " + weight.ref.name);
  return name;
}

std::string Lowering::weight_key(const Weight& weight) const {
  const std::string name = stored_name(weight);
  return name + to_string(weight.ref.view, checkpoint_->info(name).shape.size());
}

// The value of a Linear's weight [out, in] as [in, out].
std::string Lowering::transposed_weight(Value v, const Node& user) {
  const auto* weight = std::get_if<Weight>(&graph_->at(v).op);
  if (weight == nullptr)
    return emit("Transpose", {operand(v)}, user, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const std::string key = weight_key(*weight);
  if (!used_as_stored_.contains(key))
    return initializers_->weight(stored_name(*weight), transposed(weight->ref.view, 2),
                                 graph_->type(v).dtype);
  if (const auto known = transposed_.find(key); known != transposed_.end()) return known->second;
  const std::string stored = operand(v);
  return transposed_[key] =
             nodes_.add("Transpose", {stored}, user.path, {{"perm", std::vector<std::int64_t>{1, 0}}});
}

// y = x W + b with W [in, out]
void Lowering::lower(const Linear&, const Node& node, std::size_t i) {
  const std::string x = operand(node.inputs[0]), weight = transposed_weight(node.inputs[1], node);
  if (node.inputs.size() < 3) return define(i, "MatMul", {x, weight});
  const std::string product = emit("MatMul", {x, weight}, node);
  define(i, "Add", {product, operand(node.inputs[2])});
}

void Lowering::lower(const LayerNorm& op, const Node& node, std::size_t i) {
  define(i, "LayerNormalization", operands(node), {{"axis", std::int64_t{-1}}, {"epsilon", op.epsilon}});
}

void Lowering::lower(const Softmax& op, const Node& node, std::size_t i) {
  define(i, "Softmax", operands(node), {{"axis", std::int64_t{op.axis}}});
}

void Lowering::lower(const AllReduce&, const Node&, std::size_t) {
  throw Error(ErrorKind::unsupported, "a graph of one tensor-parallel rank: ONNX has no collectives");
}

void Lowering::lower(const AllGather&, const Node&, std::size_t) {
  throw Error(ErrorKind::unsupported, "a graph of one tensor-parallel rank: ONNX has no collectives");
}

}  // namespace hf::onnx
