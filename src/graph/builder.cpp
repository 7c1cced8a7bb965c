#include "graph/builder.h"

#include "base/error.h"

namespace hf {

Builder Builder::in(std::string_view name) const {
  Builder b = *this;
  if (!name.empty()) b.path_ = this->name(name);
  return b;
}

Builder Builder::in(std::string_view name, int layer) const {
  Builder b = in(name).in(std::to_string(layer));
  b.layer_ = layer;
  return b;
}

Builder Builder::at_layer(int layer) const {
  Builder b = *this;
  b.layer_ = layer;
  return b;
}

std::string Builder::name(std::string_view leaf) const {
  return path_.empty() ? std::string(leaf) : path_ + "." + std::string(leaf);
}

Value Builder::input(std::string name, DType dtype, Shape shape) {
  return graph_->add_source(Input{std::move(name)}, {dtype, std::move(shape)});
}

Value Builder::weight(std::string_view leaf, Shape shape, Split split) {
  return weight(TensorRef{name(leaf), {}, {}}, std::move(shape), split);
}

Value Builder::weight(TensorRef ref, Shape shape, Split split) {
  return graph_->add_source(Weight{std::move(ref), split}, {DType::f32, std::move(shape)}, path_, layer_);
}

Value Builder::constant(Tensor value) {
  return op(Constant{std::make_shared<const Tensor>(std::move(value))}, {});
}

Value Builder::size(const Dim& dim) { return dim.is_number() ? integer(dim.number()) : op(Size{dim}, {}); }

Value Builder::embedding(Value ids, std::string_view name, const Dim& rows, const Dim& width) {
  Builder b = in(name);
  const Value table = b.weight("weight", {rows, width});
  return b.gather(table, ids, 0);
}

Value Builder::linear(Value x, std::string_view name, const Dim& out, Split split, Bias bias) {
  Builder b = in(name);
  const Value w = b.weight("weight", {out, dim(x, -1)}, split);
  const Split bias_split = split.kind == Split::outputs ? split : Split{};
  return b.linear(x, w, bias == Bias::present ? b.weight("bias", {out}, bias_split) : Value{}, split);
}

Value Builder::linear(Value x, Value weight, Value bias, Split split) {
  if (split.kind != Split::inputs || !bias.present()) return op(Linear{}, {x, weight, bias});
  const Value product = op(Linear{}, {x, weight});
  return add(product, bias);
}

Value Builder::layer_norm(Value x, std::string_view name, float epsilon) {
  Builder b = in(name);
  const Value w = b.weight("weight", {dim(x, -1)});
  const Value bias = b.weight("bias", {dim(x, -1)});
  return b.op(LayerNorm{epsilon}, {x, w, bias});
}

Value Builder::cast(Value x, DType to) { return dtype(x) == to ? x : op(Cast{to}, {x}); }

Value Builder::select(Value x, int axis, const Dim& index) {
  const Value kept = slice(x, axis, index, index + Dim(1));
  Shape to = shape(kept);
  to.erase(to.begin() + axis);
  return reshape(kept, std::move(to));
}

Value Builder::reduce(Reduce::Kind kind, Value x, std::vector<int> axes, bool keep) {
  return op(Reduce{kind, std::move(axes), keep}, {x});
}

Value Builder::split_heads(Value x, std::int64_t head_dim) {
  const Value heads = reshape(x, {dim(x, 0), dim(x, 1), -1, head_dim});
  return transpose(heads, {0, 2, 1, 3});
}

const Dim& Builder::dim(Value v, int axis) const {
  const Shape& s = shape(v);
  return s.at(static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(s.size()) : axis));
}

}  // namespace hf
