// The meaning of each composite, in primitives. Formulas follow torch's own order of operations.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/builder.h"

namespace hf {
namespace {

// The lowest finite value; fp32's would round to -infinity in the narrow ones.
double lowest(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return -65504.0;
    case DType::bf16:
      return -0x1.FEp127;
    case DType::f64:
      return std::numeric_limits<double>::lowest();
    default:
      return double{std::numeric_limits<float>::lowest()};
  }
}

// Adds nodes where the composite stood, so that they keep its path and layer.
struct Definition {
  Graph& graph;
  const std::string& path;
  int layer;

  Value op(Op o, std::vector<Value> in) const { return graph.add(std::move(o), std::move(in), path, layer); }
  Value add(Value a, Value b) const { return op(Binary{Binary::add}, {a, b}); }
  Value sub(Value a, Value b) const { return op(Binary{Binary::subtract}, {a, b}); }
  Value mul(Value a, Value b) const { return op(Binary{Binary::multiply}, {a, b}); }
  Value div(Value a, Value b) const { return op(Binary{Binary::divide}, {a, b}); }
  Value number(double value, DType dtype) const {
    Tensor t(DType::f64, {});
    t.as<double>()[0] = value;
    return op(Constant{std::make_shared<const Tensor>(converted(t.view(), dtype))}, {});
  }
  DType dtype(Value v) const { return graph.type(v).dtype; }
  const Shape& shape(Value v) const { return graph.shape(v); }
  int last(Value v) const { return static_cast<int>(shape(v).size()) - 1; }

  // y = x W^T + b
  Value define(const Linear&, std::span<const Value> in) const {
    const Value transposed = op(Transpose{{1, 0}}, {in[1]});
    const Value product = op(MatMul{}, {in[0], transposed});
    return in.size() > 2 ? add(product, in[2]) : product;
  }

  // (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * weight + bias
  Value define(const LayerNorm& n, std::span<const Value> in) const {
    const std::vector<int> axes{last(in[0])};
    const Value mean = op(Reduce{Reduce::mean, axes, true}, {in[0]});
    const Value centered = sub(in[0], mean);
    const Value variance = op(Reduce{Reduce::mean, axes, true}, {mul(centered, centered)});
    const Value shifted = add(variance, number(n.epsilon, dtype(in[0])));
    const Value normalized = div(centered, op(Unary{Unary::sqrt}, {shifted}));
    return add(mul(normalized, in[1]), in[2]);
  }

  Value define(const Gelu& g, std::span<const Value> in) const {
    const Value x = in[0];
    const DType d = dtype(x);
    if (g.kind == Gelu::erf) {  // x / 2 (1 + erf(x / sqrt 2))
      const Value e = op(Unary{Unary::erf}, {div(x, number(std::sqrt(2.0), d))});
      return mul(mul(x, add(e, number(1, d))), number(0.5, d));
    }
    // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks & Gimpel 2016
    const Value cube = mul(mul(mul(x, x), x), number(0.044715, d));
    const Value inner = mul(add(x, cube), number(std::sqrt(2 / M_PI), d));
    const Value t = op(Unary{Unary::tanh}, {inner});
    return mul(mul(x, number(0.5, d)), add(t, number(1, d)));
  }

  Value define(const Softmax& s, std::span<const Value> in) const {
    const std::vector<int> axes{s.axis};
    const Value greatest = op(Reduce{Reduce::maximum, axes, true}, {in[0]});
    const Value e = op(Unary{Unary::exp}, {sub(in[0], greatest)});
    return div(e, op(Reduce{Reduce::sum, axes, true}, {e}));
  }

  // What attention may see: the caller's mask and, where asked, the triangle of the causal one.
  Value visible(const Attention& a, Value mask, const Dim& sequence, const Dim& total) const {
    if (!a.causal) return mask;
    // The last query sees all keys: query i stands at position i + (total - sequence).
    const Value queries = op(Range{total - sequence, total}, {}), keys = op(Range{0, total}, {});
    const Value column = op(Reshape{{sequence, 1}}, {queries});
    const Value triangle = op(Compare{Compare::less_or_equal}, {keys, column});
    return mask.present() ? op(Binary{Binary::logical_and}, {mask, triangle}) : triangle;
  }

  // [batch, kv_heads, total, head_dim] with each head repeated for the query heads that share it.
  Value repeated(Value kv, const Dim& heads) const {
    const Shape s = shape(kv);
    if (s[1] == heads) return kv;
    const Dim group = floor_div(heads, s[1]);
    const Value apart = op(Reshape{{s[0], s[1], 1, s[2], s[3]}}, {kv});
    const Value wide = op(Expand{{s[0], s[1], group, s[2], s[3]}}, {apart});
    return op(Reshape{{s[0], heads, s[2], s[3]}}, {wide});
  }

  // softmax(q k^T scale + bias, lowest where masked) v
  Value define(const Attention& a, std::span<const Value> in) const {
    const Shape q = shape(in[0]);
    const Dim heads = floor_div(q[2], a.head_dim), total = shape(in[1])[2];
    const DType d = dtype(in[0]);
    const Value rows = op(Reshape{{q[0], q[1], -1, a.head_dim}}, {in[0]});
    const Value query = op(Transpose{{0, 2, 1, 3}}, {rows});
    const Value key = op(Transpose{{0, 1, 3, 2}}, {repeated(in[1], heads)});
    Value scores = mul(op(MatMul{}, {query, key}), number(a.scale, d));
    if (in.size() > 3 && in[3].present()) scores = add(scores, in[3]);
    const Value mask = visible(a, in.size() > 4 ? in[4] : Value{}, q[1], total);
    if (mask.present()) {
      const Value shown = number(0, d), hidden = number(lowest(d), d);
      scores = add(scores, op(Where{}, {mask, shown, hidden}));
    }
    const Value weights = op(Softmax{3}, {scores});
    const Value mixed = op(Transpose{{0, 2, 1, 3}}, {op(MatMul{}, {weights, repeated(in[2], heads)})});
    return op(Reshape{{q[0], q[1], -1}}, {mixed});
  }

  template <class T>
  Value define(const T&, std::span<const Value>) const {
    static_assert(!is_composite<T>, "a composite needs a definition");
    throw Error(ErrorKind::internal, "decompose: a primitive has no definition");
  }
};

}  // namespace

Value decompose(Graph& out, const Op& op, std::span<const Value> inputs, const std::string& path, int layer) {
  const Definition definition{out, path, layer};
  return std::visit([&](const auto& o) { return definition.define(o, inputs); }, op);
}

namespace {

// Definitions may use composites themselves (attention has a softmax): repeated until none is left.
Graph decompose_once(const Graph& graph, const std::function<bool(const Op&)>& keep, bool& changed) {
  return replay(graph, [&](Graph& out, const Node& node, const std::vector<Value>& inputs) {
    if (composite(node.op) && (!keep || !keep(node.op))) {
      changed = true;
      return decompose(out, node.op, inputs, node.path, node.layer);
    }
    out.nodes.push_back(node);
    out.nodes.back().inputs = inputs;
    return Value{static_cast<int>(out.nodes.size()) - 1, 0};
  });
}

}  // namespace

Graph decompose(const Graph& graph, const std::function<bool(const Op&)>& keep) {
  bool changed = false;
  Graph out = decompose_once(graph, keep, changed);
  while (changed) {
    changed = false;
    out = decompose_once(out, keep, changed);
  }
  return out;
}

}  // namespace hf
