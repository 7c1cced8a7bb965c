// Writes a graph the way the checkpoint names it: in("layer", 3).in("attention") extends the path, and a
// weight's path is its name in the file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace hf {

enum class Bias { absent, present };

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(&graph) {}
  Builder in(std::string_view name) const;             // "" stays where it is
  Builder in(std::string_view name, int layer) const;  // "name.layer", a repeated block
  Builder at_layer(int layer) const;  // the same path in another block: layers that share their weights
  const std::string& path() const { return path_; }
  std::string name(std::string_view leaf) const;  // path and leaf joined by "."

  // sources
  Value input(std::string name, DType dtype, Shape shape);
  Value weight(std::string_view leaf, Shape shape, Split split = {});
  Value weight(TensorRef ref, Shape shape, Split split = {});
  Value constant(Tensor value);
  Value number(float value) { return constant(Tensor::scalar(value)); }
  Value integer(std::int64_t value) { return constant(Tensor::scalar(value)); }
  Value size(const Dim& dim);

  // layers, by the names that their weights have below the path
  Value embedding(Value ids, std::string_view name, const Dim& rows, const Dim& width);
  Value linear(Value x, std::string_view name, const Dim& out, Split split = {}, Bias bias = Bias::present);
  Value layer_norm(Value x, std::string_view name, float epsilon);
  // A weight [out, in] and bias? [out] given as values. A product over sliced inputs is a partial sum: its
  // bias joins once, after the reduction.
  Value linear(Value x, Value weight, Value bias, Split split);

  // operators
  Value unary(Unary::Kind kind, Value x) { return op(Unary{kind}, {x}); }
  Value binary(Binary::Kind kind, Value a, Value b) { return op(Binary{kind}, {a, b}); }
  Value compare(Compare::Kind kind, Value a, Value b) { return op(Compare{kind}, {a, b}); }
  Value add(Value a, Value b) { return binary(Binary::add, a, b); }
  Value sub(Value a, Value b) { return binary(Binary::subtract, a, b); }
  Value mul(Value a, Value b) { return binary(Binary::multiply, a, b); }
  Value div(Value a, Value b) { return binary(Binary::divide, a, b); }
  Value tanh(Value x) { return unary(Unary::tanh, x); }
  Value cast(Value x, DType to);  // nothing where it is of that dtype
  Value where(Value condition, Value then, Value otherwise) {
    return op(Where{}, {condition, then, otherwise});
  }
  Value reshape(Value x, Shape to) { return op(Reshape{std::move(to)}, {x}); }
  Value transpose(Value x, std::vector<int> permutation) {
    return op(Transpose{std::move(permutation)}, {x});
  }
  Value slice(Value x, int axis, Dim begin, Dim end) {
    return op(Slice{axis, std::move(begin), std::move(end)}, {x});
  }
  // One index of an axis, which goes away: x[:, 0].
  Value select(Value x, int axis, const Dim& index);
  Value gather(Value x, Value indices, int axis) { return op(Gather{axis}, {x, indices}); }
  Value concat(std::vector<Value> parts, int axis) { return op(Concat{axis}, std::move(parts)); }
  Value reduce(Reduce::Kind kind, Value x, std::vector<int> axes, bool keep);
  Value range(Dim begin, Dim end) { return op(Range{std::move(begin), std::move(end)}, {}); }
  Value softmax(Value x, int axis) { return op(Softmax{axis}, {x}); }
  Value gelu(Value x, Gelu::Kind kind) { return op(Gelu{kind}, {x}); }
  // [batch, sequence, heads * head_dim] as [batch, heads, sequence, head_dim]
  Value split_heads(Value x, std::int64_t head_dim);
  Value attention(Value q, Value k, Value v, Value bias, Value mask, Attention a) {
    return op(a, {q, k, v, bias, mask});
  }

  Value op(Op o, std::vector<Value> inputs) {
    return graph_->add(std::move(o), std::move(inputs), path_, layer_);
  }

  // results
  void output(std::string name, Value v) { graph_->outputs.push_back({std::move(name), v}); }
  void observe(std::string name, Value v) { graph_->observed.push_back({std::move(name), v}); }

  const Shape& shape(Value v) const { return graph_->shape(v); }
  const Dim& dim(Value v, int axis) const;  // negative axes count from the end
  DType dtype(Value v) const { return graph_->type(v).dtype; }
  Graph& graph() { return *graph_; }

 private:
  Graph* graph_;
  std::string path_;
  int layer_ = -1;
};

}  // namespace hf
