// The type of each op's output, and what it asks of its inputs. README.md says the same in words.
#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"

namespace hf {
namespace {

[[noreturn]] void wrong(const std::string& what) { throw Error(ErrorKind::internal, what); }

void require(bool good, const std::string& what) {
  if (!good) wrong(what);
}

// What an overload sees: the inputs' types, and checks that name what is wrong.
struct Inputs {
  std::span<const TensorType* const> types;

  const TensorType& operator[](std::size_t i) const {
    require(i < types.size() && types[i] != nullptr, "input " + std::to_string(i) + " is missing");
    return *types[i];
  }
  bool has(std::size_t i) const { return i < types.size() && types[i] != nullptr; }
  void count(std::size_t least, std::size_t most) const {
    require(types.size() >= least && types.size() <= most,
            "has " + std::to_string(types.size()) + " inputs, expected " + std::to_string(least) +
                (most > least ? " to " + std::to_string(most) : ""));
  }
};

void require_float(const TensorType& t) {
  require(is_float(t.dtype), "input is " + std::string(name_of(t.dtype)) + ", a float is expected");
}

void require_same(const TensorType& a, const TensorType& b) {
  require(a.dtype == b.dtype, "inputs are " + std::string(name_of(a.dtype)) + " and " +
                                  std::string(name_of(b.dtype)) + ", one dtype is expected");
}

void require_shape(const Shape& got, const Shape& expected) {
  require(got == expected, "input has shape " + to_string(got) + ", " + to_string(expected) + " is expected");
}

std::size_t axis_in(int axis, const Shape& shape) {
  require(axis >= 0 && static_cast<std::size_t>(axis) < shape.size(),
          "axis " + std::to_string(axis) + " is not in shape " + to_string(shape));
  return static_cast<std::size_t>(axis);
}

TensorType infer_op(const Unary& op, const Inputs& in) {
  in.count(1, 1);
  if (op.kind == Unary::logical_not)
    require(in[0].dtype == DType::boolean, "logical_not needs bool");
  else if (op.kind != Unary::negate && op.kind != Unary::absolute)
    require_float(in[0]);
  else
    require(in[0].dtype != DType::boolean, std::string(name_of(op.kind)) + " of bool");
  return in[0];
}

TensorType infer_op(const Binary& op, const Inputs& in) {
  in.count(2, 2);
  require_same(in[0], in[1]);
  const bool logical = op.kind == Binary::logical_and || op.kind == Binary::logical_or;
  require(logical == (in[0].dtype == DType::boolean),
          std::string(name_of(op.kind)) + " of " + std::string(name_of(in[0].dtype)));
  return {in[0].dtype, broadcast(in[0].shape, in[1].shape)};
}

TensorType infer_op(const Compare&, const Inputs& in) {
  in.count(2, 2);
  require_same(in[0], in[1]);
  return {DType::boolean, broadcast(in[0].shape, in[1].shape)};
}

TensorType infer_op(const Where&, const Inputs& in) {
  in.count(3, 3);
  require(in[0].dtype == DType::boolean, "the condition must be bool");
  require_same(in[1], in[2]);
  return {in[1].dtype, broadcast(in[0].shape, broadcast(in[1].shape, in[2].shape))};
}

TensorType infer_op(const Cast& op, const Inputs& in) {
  in.count(1, 1);
  return {op.to, in[0].shape};
}

TensorType infer_op(const MatMul&, const Inputs& in) {
  in.count(2, 2);
  require_same(in[0], in[1]);
  require_float(in[0]);
  const Shape &a = in[0].shape, &b = in[1].shape;
  require(a.size() >= 2 && b.size() >= 2 && a[a.size() - 1] == b[b.size() - 2],
          "shapes " + to_string(a) + " and " + to_string(b) + " do not multiply");
  Shape out = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  out.push_back(a[a.size() - 2]);
  out.push_back(b[b.size() - 1]);
  return {in[0].dtype, out};
}

TensorType reduced(const TensorType& x, const std::vector<int>& axes, bool keep, DType dtype) {
  Shape out;
  for (const int axis : axes) axis_in(axis, x.shape);
  require(std::is_sorted(axes.begin(), axes.end(), std::less_equal<>()) || axes.size() < 2,
          "axes must ascend");
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int>(i)) == axes.end())
      out.push_back(x.shape[i]);
    else if (keep)
      out.push_back(1);
  }
  return {dtype, out};
}

TensorType infer_op(const Reduce& op, const Inputs& in) {
  in.count(1, 1);
  require(in[0].dtype != DType::boolean && (op.kind != Reduce::mean || is_float(in[0].dtype)),
          std::string(name_of(op.kind)) + " of " + std::string(name_of(in[0].dtype)));
  return reduced(in[0], op.axes, op.keep, in[0].dtype);
}

TensorType infer_op(const ArgMax& op, const Inputs& in) {
  in.count(1, 1);
  return reduced(in[0], {op.axis}, op.keep, DType::i64);
}

TensorType infer_op(const CumSum& op, const Inputs& in) {
  in.count(1, 1);
  axis_in(op.axis, in[0].shape);
  require(in[0].dtype != DType::boolean, "cumsum of bool");
  return in[0];
}

TensorType infer_op(const Gather& op, const Inputs& in) {
  in.count(2, 2);
  const std::size_t axis = axis_in(op.axis, in[0].shape);
  require(in[1].dtype == DType::i64, "indices must be int64");
  Shape out(in[0].shape.begin(), in[0].shape.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), in[1].shape.begin(), in[1].shape.end());
  out.insert(out.end(), in[0].shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in[0].shape.end());
  return {in[0].dtype, out};
}

void require_sizes(const Dim& size, const std::string& what) {
  require(!size.is_number() || size.number() >= 0, what + " has a size of " + size.to_string());
}

TensorType infer_op(const Reshape& op, const Inputs& in) {
  in.count(1, 1);
  Dim known = 1;
  int open = -1;
  for (std::size_t i = 0; i < op.to.size(); ++i) {
    if (!(op.to[i] == Dim(-1))) {
      require_sizes(op.to[i], "shape " + to_string(op.to));
      known *= op.to[i];
      continue;
    }
    require(open < 0, "two sizes of a reshape are left open");
    open = static_cast<int>(i);
  }
  const Dim total = elements(in[0].shape);
  Shape out = op.to;
  if (open >= 0) {
    require(!(known == Dim(0)), "a reshape with an open size has a zero one");
    out[static_cast<std::size_t>(open)] = floor_div(total, known);
    known *= out[static_cast<std::size_t>(open)];
  }
  require(known == total, "shape " + to_string(in[0].shape) + " cannot become " + to_string(op.to));
  return {in[0].dtype, out};
}

TensorType infer_op(const Transpose& op, const Inputs& in) {
  in.count(1, 1);
  std::vector<int> sorted = op.permutation;
  std::sort(sorted.begin(), sorted.end());
  bool good = sorted.size() == in[0].shape.size();
  for (std::size_t i = 0; good && i < sorted.size(); ++i) good = sorted[i] == static_cast<int>(i);
  require(good, "not a permutation of the axes of " + to_string(in[0].shape));
  Shape out;
  for (const int axis : op.permutation) out.push_back(in[0].shape[static_cast<std::size_t>(axis)]);
  return {in[0].dtype, out};
}

TensorType infer_op(const Slice& op, const Inputs& in) {
  in.count(1, 1);
  TensorType out = in[0];
  Dim& size = out.shape[axis_in(op.axis, in[0].shape)];
  require(op.step > 0, "a slice's step must be positive");
  const auto bad = [&](const Dim& d) {
    return d.is_number() && (d.number() < 0 || (size.is_number() && d.number() > size.number()));
  };
  require(!bad(op.begin) && !bad(op.end), "slice " + op.begin.to_string() + ":" + op.end.to_string() +
                                              " is not within an axis of size " + size.to_string());
  const Dim length = op.end - op.begin;
  require(!length.is_number() || length.number() >= 0, "a slice ends before it begins");
  size = op.step == 1 ? length : floor_div(length + Dim(op.step - 1), Dim(op.step));
  return out;
}

TensorType infer_op(const Concat& op, const Inputs& in) {
  require(!in.types.empty(), "nothing to join");
  TensorType out = in[0];
  const std::size_t axis = axis_in(op.axis, out.shape);
  for (std::size_t i = 1; i < in.types.size(); ++i) {
    require_same(in[0], in[i]);
    Shape rest = in[i].shape;
    require(rest.size() == out.shape.size(), "shapes of different rank are joined");
    out.shape[axis] += rest[axis];
    rest[axis] = out.shape[axis];
    require_shape(rest, out.shape);
  }
  return out;
}

TensorType infer_op(const Expand& op, const Inputs& in) {
  in.count(1, 1);
  for (const Dim& size : op.to) require_sizes(size, "shape " + to_string(op.to));
  require_shape(broadcast(in[0].shape, op.to), op.to);
  return {in[0].dtype, op.to};
}

TensorType infer_op(const Range& op, const Inputs& in) {
  in.count(0, 0);
  const Dim length = op.end - op.begin;
  require_sizes(length, "range " + op.begin.to_string() + ":" + op.end.to_string());
  return {DType::i64, {length}};
}

TensorType infer_op(const Constant& op, const Inputs& in) {
  in.count(0, 0);
  require(op.value != nullptr, "a constant has no value");
  return {op.value->dtype(), to_shape(op.value->shape())};
}

TensorType infer_op(const Size&, const Inputs& in) {
  in.count(0, 0);
  return {DType::i64, {}};
}

TensorType infer_op(const Input&, const Inputs&) { wrong("a source's type is stated, not inferred"); }
TensorType infer_op(const Weight&, const Inputs&) { wrong("a source's type is stated, not inferred"); }

TensorType infer_op(const AllReduce&, const Inputs& in) {
  in.count(1, 1);
  require_float(in[0]);
  return in[0];
}

// The ranks' number is the shard pass's to know: it states the type itself.
TensorType infer_op(const AllGather&, const Inputs&) { wrong("an AllGather's type is stated, not inferred"); }

TensorType infer_op(const Linear&, const Inputs& in) {
  in.count(2, 3);
  require_same(in[0], in[1]);
  require_float(in[0]);
  require(!in[0].shape.empty() && in[1].shape.size() == 2, "a weight [out, in] is expected");
  require(in[0].shape.back() == in[1].shape[1],
          "input " + to_string(in[0].shape) + " does not fit weight " + to_string(in[1].shape));
  if (in.has(2)) require_shape(in[2].shape, {in[1].shape[0]});
  TensorType out = in[0];
  out.shape.back() = in[1].shape[0];
  return out;
}

TensorType infer_op(const LayerNorm&, const Inputs& in) {
  in.count(3, 3);
  require_float(in[0]);
  require(!in[0].shape.empty(), "a scalar has no axis to normalize");
  for (const std::size_t i : {1u, 2u}) {
    require_same(in[0], in[i]);
    require_shape(in[i].shape, {in[0].shape.back()});
  }
  return in[0];
}

TensorType infer_op(const Gelu&, const Inputs& in) {
  in.count(1, 1);
  require_float(in[0]);
  return in[0];
}

TensorType infer_op(const Softmax& op, const Inputs& in) {
  in.count(1, 1);
  require_float(in[0]);
  axis_in(op.axis, in[0].shape);
  return in[0];
}

TensorType infer_op(const Attention& op, const Inputs& in) {
  in.count(3, 5);
  for (const std::size_t i : {0u, 1u, 2u}) {
    require_same(in[0], in[i]);
    require(in[i].shape.size() == (i == 0 ? 3u : 4u), "attention wants q of rank 3, k and v of rank 4");
  }
  require_float(in[0]);
  require(op.head_dim > 0, "head_dim is " + std::to_string(op.head_dim));
  const Shape &q = in[0].shape, &k = in[1].shape, &v = in[2].shape;
  require(k == v, "k has shape " + to_string(k) + ", v " + to_string(v));
  require(q[0] == k[0] && k[3] == Dim(op.head_dim), "k has shape " + to_string(k) + ", q " + to_string(q));
  require(mod(q[2], Dim(op.head_dim)) == Dim(0),
          "q's width " + q[2].to_string() + " is not whole heads of " + std::to_string(op.head_dim));
  const Dim heads = floor_div(q[2], op.head_dim);
  require(!(k[1] == Dim(0)) && mod(heads, k[1]) == Dim(0),
          heads.to_string() + " heads do not share " + k[1].to_string() + " key heads evenly");
  const Shape scores{q[0], heads, q[1], k[2]};
  for (const std::size_t i : {3u, 4u}) {
    if (!in.has(i)) continue;
    require_shape(broadcast(in[i].shape, scores), scores);
    if (i == 3) require_same(in[0], in[3]);
    require(i == 3 || in[i].dtype == DType::boolean, "the mask must be bool");
  }
  return in[0];
}

}  // namespace

TensorType infer(const Op& op, std::span<const TensorType* const> inputs) {
  return std::visit([&](const auto& o) { return infer_op(o, Inputs{inputs}); }, op);
}

}  // namespace hf
