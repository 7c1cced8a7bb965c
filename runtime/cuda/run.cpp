// From a node of a bound graph to kernels and matrix products: one overload an op.
#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/kinds.h"
#include "runtime/cuda/status.cuh"

namespace hf::runtime::cuda {
namespace {

std::string subject(const Node& node) {
  const std::string op(name_of(node.op));
  return node.path.empty() ? op : escaped(node.path) + ": " + op;
}

std::int64_t product_of(std::span<const std::int64_t> sizes) { return elements(sizes); }

Lines lines_along(const Sizes& shape, int axis) {
  const std::span<const std::int64_t> sizes(shape);
  const auto at = static_cast<std::size_t>(axis);
  return {product_of(sizes.first(at)), sizes[at], product_of(sizes.subspan(at + 1))};
}

// Each overload starts its op's work and returns false where there is no kernel for the dtype.
struct Call {
  CudaDevice& device;
  const Node& node;
  std::span<const DeviceTensor> in;
  const DeviceTensor& out;

  Stream stream() const { return device.stream(); }
  std::int64_t count() const { return elements(out.shape); }
  std::size_t width() const { return size_of(out.dtype); }
  bool has(std::size_t i) const { return i < in.size() && in[i].data != nullptr; }
  const void* at(std::size_t i, std::int64_t element) const {
    return static_cast<const std::byte*>(in[i].data) +
           element * static_cast<std::int64_t>(size_of(in[i].dtype));
  }
  void* out_at(std::int64_t element) const {
    return static_cast<std::byte*>(out.data) + element * static_cast<std::int64_t>(width());
  }
  Numbers broadcast(std::size_t i) const { return broadcast_strides(in[i].shape, out.shape); }
  Walk<2> walk_two() const { return make_walk<2>(out.shape, {broadcast(0), broadcast(1)}); }
  bool copy_all() const {
    device.copy(out.data, in[0].data, out.bytes());
    return true;
  }

  // ---- element by element
  bool operator()(const Unary& op) const {
    return unary(stream(), out.dtype, kind_of(op.kind), in[0].data, out.data, count());
  }
  bool operator()(const Gelu& op) const {
    return gelu(stream(), out.dtype, kind_of(op.kind), in[0].data, out.data, count());
  }
  bool operator()(const Cast& op) const {
    if (op.to == in[0].dtype) return copy_all();
    return cast(stream(), in[0].dtype, op.to, in[0].data, out.data, count());
  }
  bool operator()(const Binary& op) const {
    return binary(stream(), out.dtype, kind_of(op.kind), in[0].data, in[1].data, out.data, walk_two());
  }
  bool operator()(const Compare& op) const {
    return compare(stream(), in[0].dtype, kind_of(op.kind), in[0].data, in[1].data, out.data, walk_two());
  }
  bool operator()(const Where&) const {
    const Walk<3> walk = make_walk<3>(out.shape, {broadcast(0), broadcast(1), broadcast(2)});
    return where(stream(), width(), in[0].data, in[1].data, in[2].data, out.data, walk);
  }

  // ---- moving elements
  bool operator()(const Reshape&) const { return copy_all(); }
  bool operator()(const Transpose& op) const {
    const Numbers stored = dense_strides(in[0].shape);
    Numbers strides;
    for (const int axis : op.permutation) strides.push_back(stored[static_cast<std::size_t>(axis)]);
    return relayout(stream(), width(), in[0].data, out.data,
                    make_walk<2>(out.shape, {strides, dense_strides(out.shape)}));
  }
  bool operator()(const Slice& op) const {
    const auto axis = static_cast<std::size_t>(op.axis);
    const std::int64_t begin = op.begin.number(), length = out.shape[axis];
    if (begin < 0 || (length > 0 && begin + (length - 1) * op.step >= in[0].shape[axis]))
      throw Error(ErrorKind::usage, subject(node) + ": elements from " + std::to_string(begin) +
                                        " are outside the " + std::to_string(in[0].shape[axis]) +
                                        " of axis " + std::to_string(op.axis));
    Numbers strides = dense_strides(in[0].shape);
    const void* first = at(0, begin * strides[axis]);
    strides[axis] *= op.step;
    return relayout(stream(), width(), first, out.data,
                    make_walk<2>(out.shape, {strides, dense_strides(out.shape)}));
  }
  bool operator()(const Expand&) const {
    return relayout(stream(), width(), in[0].data, out.data,
                    make_walk<2>(out.shape, {broadcast(0), dense_strides(out.shape)}));
  }
  bool operator()(const Concat& op) const {
    const auto axis = static_cast<std::size_t>(op.axis);
    const Numbers strides = dense_strides(out.shape);
    std::int64_t before = 0;
    for (const DeviceTensor& part : in) {
      const Walk<2> walk = make_walk<2>(part.shape, {dense_strides(part.shape), strides});
      if (!relayout(stream(), width(), part.data, out_at(before * strides[axis]), walk)) return false;
      before += part.shape[axis];
    }
    return true;
  }
  bool operator()(const Gather& op) const {
    if (in[1].dtype != DType::i64) return false;
    const Lines axis = lines_along(in[0].shape, op.axis);
    const GatherSizes sizes{axis.outer, axis.length, axis.inner, elements(in[1].shape)};
    return gather(stream(), width(), in[0].data, static_cast<const std::int64_t*>(in[1].data), out.data,
                  sizes, device.fault(), device.place_of(node.path));
  }
  bool operator()(const Range& op) const {
    range(stream(), op.begin.number(), static_cast<std::int64_t*>(out.data), count());
    return true;
  }

  // ---- along axes
  bool operator()(const Softmax& op) const {
    return softmax(stream(), out.dtype, in[0].data, out.data, lines_along(out.shape, op.axis));
  }
  bool operator()(const LayerNorm& op) const {
    const Lines lines = lines_along(out.shape, static_cast<int>(out.shape.size()) - 1);
    return layer_norm(stream(), out.dtype, in[0].data, in[1].data, in[2].data, out.data, lines.outer,
                      lines.length, op.epsilon);
  }
  bool operator()(const CumSum& op) const {
    return cumsum(stream(), out.dtype, in[0].data, out.data, lines_along(out.shape, op.axis));
  }
  bool operator()(const ArgMax& op) const {
    const Lines lines = lines_along(in[0].shape, op.axis);
    if (lines.length == 0 && count() > 0) throw nothing_to_choose();
    return arg_max(stream(), in[0].dtype, in[0].data, static_cast<std::int64_t*>(out.data), lines);
  }
  bool operator()(const Reduce& op) const {
    const Numbers strides = dense_strides(in[0].shape);
    Numbers kept, reduced, kept_strides, reduced_strides;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      const bool goes = std::find(op.axes.begin(), op.axes.end(), static_cast<int>(axis)) != op.axes.end();
      (goes ? reduced : kept).push_back(in[0].shape[axis]);
      (goes ? reduced_strides : kept_strides).push_back(strides[axis]);
    }
    const bool chooses = op.kind == Reduce::maximum || op.kind == Reduce::minimum;
    if (chooses && product_of(reduced) == 0 && count() > 0) throw nothing_to_choose();
    return reduce(stream(), out.dtype, kind_of(op.kind), in[0].data, out.data,
                  make_walk<1>(kept, {kept_strides}), make_walk<1>(reduced, {reduced_strides}));
  }
  Error nothing_to_choose() const {
    return {ErrorKind::usage, subject(node) + ": no elements to choose from"};
  }

  // ---- products
  bool operator()(const Linear&) const {
    Product product{.dtype = out.dtype};
    product.k = in[1].shape[1];
    product.n = in[1].shape[0];
    product.m = product_of(std::span(in[0].shape).first(in[0].shape.size() - 1));
    product.b_transposed = true;
    product.has_bias = has(2);
    return device.multiply(product, in[0].data, in[1].data, has(2) ? in[2].data : nullptr, out.data);
  }
  bool operator()(const MatMul&) const;

  // ---- what does not come here: sources have no inputs to compute, the session reduces over ranks, and a
  // composite that fuses() denies is decomposed first
  template <class T>
  bool operator()(const T&) const {
    static_assert(is_source<T> || is_one_of<T, AllReduce, AllGather, Attention>,
                  "the CUDA device does not know the op");
    throw Error(ErrorKind::unsupported, subject(node) + " has no CUDA kernel");
  }
};

// The matrices of a batch as numbered by the walk of its leading axes: offsets, in elements, of matrix
// `index`.
std::array<std::int64_t, 3> matrices_at(const Walk<3>& walk, int axes, std::int64_t index) {
  std::array<std::int64_t, 3> at = {};
  for (int axis = axes - 1; axis >= 0; --axis) {
    for (std::size_t n = 0; n < 3; ++n) at[n] += index % walk.size[axis] * walk.stride[n][axis];
    index /= walk.size[axis];
  }
  return at;
}

// The innermost run of leading axes is one strided batch, or more rows where b is the same for all; axes
// outside it, which only uneven broadcasting leaves, are gone through one by one.
bool Call::operator()(const MatMul&) const {
  const auto lead_of = [](const Sizes& shape) { return std::span(shape).first(shape.size() - 2); };
  const std::size_t rank = out.shape.size();
  Product product{.dtype = out.dtype};
  product.m = out.shape[rank - 2];
  product.n = out.shape[rank - 1];
  product.k = in[0].shape.back();
  const std::span<const std::int64_t> lead = lead_of(out.shape);
  std::array<Numbers, 3> strides = {broadcast_strides(lead_of(in[0].shape), lead),
                                    broadcast_strides(lead_of(in[1].shape), lead), dense_strides(lead)};
  const std::int64_t matrix[3] = {product.m * product.k, product.k * product.n, product.m * product.n};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::int64_t& stride : strides[i]) stride *= matrix[i];

  const Walk<3> walk = make_walk<3>(lead, strides);
  const int outer_axes = std::max(0, walk.rank - 1);
  std::int64_t outer = walk.count;
  if (walk.rank > 0 && walk.count > 0) {
    const int last = walk.rank - 1;
    outer /= walk.size[last];
    product.batch = walk.size[last];
    product.a_stride = walk.stride[0][last];
    product.b_stride = walk.stride[1][last];
    product.y_stride = walk.stride[2][last];
    if (product.b_stride == 0 && product.a_stride == matrix[0]) {
      product.m *= product.batch;
      product.batch = 1;
      product.a_stride = product.y_stride = 0;
    }
  }
  for (std::int64_t i = 0; i < outer; ++i) {
    const auto [a, b, y] = matrices_at(walk, outer_axes, i);
    if (!device.multiply(product, at(0, a), at(1, b), nullptr, out_at(y))) return false;
  }
  return true;
}

}  // namespace

bool CudaDevice::fuses(const Op& op) const {
  return std::visit([]<class T>(const T&) { return is_one_of<T, Linear, LayerNorm, Gelu, Softmax>; }, op);
}

void CudaDevice::run(const Node& node, std::span<const DeviceTensor> inputs, const DeviceTensor& output) {
  select();
  if (!std::visit(Call{*this, node, inputs, output}, node.op)) {
    const DType dtype = inputs.empty() ? output.dtype : inputs.front().dtype;
    throw Error(ErrorKind::unsupported,
                subject(node) + " has no CUDA kernel for " + std::string(name_of(dtype)));
  }
  check(cudaGetLastError(), name() + ": " + subject(node));
}

}  // namespace hf::runtime::cuda
