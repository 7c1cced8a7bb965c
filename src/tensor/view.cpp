#include "tensor/view.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"

namespace hf {
namespace {

// Sizes and strides (in elements) of a view, and the offset of its first element.
struct Strided {
  Sizes sizes, strides;
  std::int64_t offset = 0;
};

Sizes row_major(const Sizes& sizes) {
  // Without elements there is nothing to step over, and the other sizes may be as large as they like.
  if (elements(sizes) == 0) return Sizes(sizes.size(), 0);
  Sizes strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

std::vector<int> identity(std::size_t rank) {
  std::vector<int> p(rank);
  std::iota(p.begin(), p.end(), 0);
  return p;
}

Strided strided(const View& view, const Sizes& stored) {
  Strided s;
  s.sizes = view.reshape.empty() ? stored : view.reshape;
  const bool negative = std::any_of(s.sizes.begin(), s.sizes.end(), [](std::int64_t n) { return n < 0; });
  if (negative || elements(s.sizes) != elements(stored))
    throw Error(ErrorKind::integrity,
                "shape " + to_string(stored) + " cannot be read as " + to_string(s.sizes));
  s.strides = row_major(s.sizes);
  for (const AxisRange& r : view.ranges) {
    const auto axis = static_cast<std::size_t>(r.axis);
    if (axis >= s.sizes.size() || r.begin < 0 || r.end < r.begin || r.end > s.sizes[axis])
      throw Error(ErrorKind::integrity, "shape " + to_string(s.sizes) + " has no range " +
                                            std::to_string(r.begin) + ":" + std::to_string(r.end) +
                                            " on axis " + std::to_string(r.axis));
    s.offset += r.begin * s.strides[axis];
    s.sizes[axis] = r.end - r.begin;
  }
  if (view.permutation.empty()) return s;
  const std::vector<int> in_order = identity(s.sizes.size());
  if (!std::is_permutation(in_order.begin(), in_order.end(), view.permutation.begin(),
                           view.permutation.end()))
    throw Error(ErrorKind::integrity,
                "shape " + to_string(s.sizes) + " does not have the axes of the permutation");
  Strided out = s;
  for (std::size_t i = 0; i < view.permutation.size(); ++i) {
    out.sizes[i] = s.sizes[static_cast<std::size_t>(view.permutation[i])];
    out.strides[i] = s.strides[static_cast<std::size_t>(view.permutation[i])];
  }
  return out;
}

// Both tiles fit the first-level cache: a plain loop over a transposed matrix misses on every element.
constexpr std::int64_t kTile = 32;

template <class T>
void copy_matrix(const T* from, std::int64_t row_stride, std::int64_t column_stride, std::int64_t rows,
                 std::int64_t columns, T* to) {
  if (column_stride == 1) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(to + r * columns, from + r * row_stride, static_cast<std::size_t>(columns) * sizeof(T));
    return;
  }
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const std::int64_t r1 = std::min(rows, r0 + kTile), c1 = std::min(columns, c0 + kTile);
      for (std::int64_t r = r0; r < r1; ++r)
        for (std::int64_t c = c0; c < c1; ++c)
          std::memcpy(to + r * columns + c, from + r * row_stride + c * column_stride, sizeof(T));
    }
  }
}

// Copies the last two axes as a matrix for each index of the others.
template <class T>
void copy_strided(const T* from, const Strided& s, T* to) {
  const std::size_t rank = s.sizes.size();
  if (elements(s.sizes) == 0) return;
  const std::int64_t rows = rank > 1 ? s.sizes[rank - 2] : 1, columns = rank > 0 ? s.sizes[rank - 1] : 1;
  const std::int64_t row_stride = rank > 1 ? s.strides[rank - 2] : 0,
                     column_stride = rank > 0 ? s.strides[rank - 1] : 1;
  Sizes index(rank > 2 ? rank - 2 : 0, 0);
  for (;;) {
    std::int64_t at = s.offset;
    for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * s.strides[i];
    copy_matrix(from + at, row_stride, column_stride, rows, columns, to);
    to += rows * columns;
    std::size_t i = index.size();
    while (i-- > 0) {
      if (++index[i] < s.sizes[i]) break;
      index[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

struct Bytes8 {
  std::byte b[8];
};
struct Bytes4 {
  std::byte b[4];
};
struct Bytes2 {
  std::byte b[2];
};
struct Bytes1 {
  std::byte b[1];
};  // alignment 1: a checkpoint's tensors may lie anywhere

void copy_bytes(const std::byte* from, const Strided& s, std::size_t element, std::byte* to) {
  switch (element) {
    case 8:
      return copy_strided(reinterpret_cast<const Bytes8*>(from), s, reinterpret_cast<Bytes8*>(to));
    case 4:
      return copy_strided(reinterpret_cast<const Bytes4*>(from), s, reinterpret_cast<Bytes4*>(to));
    case 2:
      return copy_strided(reinterpret_cast<const Bytes2*>(from), s, reinterpret_cast<Bytes2*>(to));
    default:
      return copy_strided(reinterpret_cast<const Bytes1*>(from), s, reinterpret_cast<Bytes1*>(to));
  }
}

}  // namespace

std::string to_string(const View& view, std::size_t stored_rank) {
  std::string out;
  const std::size_t rank = view.reshape.empty() ? stored_rank : view.reshape.size();
  if (!view.reshape.empty()) {
    for (const std::int64_t size : view.reshape) out += (out.empty() ? "{" : ",") + std::to_string(size);
    out += "}";
  }
  if (!view.ranges.empty()) {
    out += "[";
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const auto at = std::find_if(view.ranges.begin(), view.ranges.end(),
                                   [&](const AxisRange& r) { return r.axis == static_cast<int>(axis); });
      if (axis > 0) out += ",";
      out += at == view.ranges.end() ? ":" : std::to_string(at->begin) + ":" + std::to_string(at->end);
    }
    out += "]";
  }
  if (view.permutation.empty() || view.permutation == identity(rank)) return out;
  if (view.permutation == std::vector<int>{1, 0}) return out + ".T";
  out += ".permute(";
  for (std::size_t i = 0; i < view.permutation.size(); ++i)
    out += (i > 0 ? "," : "") + std::to_string(view.permutation[i]);
  return out + ")";
}

Sizes shape_of(const View& view, const Sizes& stored) { return strided(view, stored).sizes; }

View narrowed(View inner, int axis, std::int64_t begin, std::int64_t end) {
  if (axis < 0 || (!inner.permutation.empty() && static_cast<std::size_t>(axis) >= inner.permutation.size()))
    throw Error(ErrorKind::internal, "narrowed: the view has no axis " + std::to_string(axis));
  const int stored_axis =
      inner.permutation.empty() ? axis : inner.permutation[static_cast<std::size_t>(axis)];
  const auto at = std::find_if(inner.ranges.begin(), inner.ranges.end(),
                               [&](const AxisRange& r) { return r.axis == stored_axis; });
  if (begin < 0 || end < begin || (at != inner.ranges.end() && end > at->end - at->begin))
    throw Error(ErrorKind::internal, "narrowed: axis " + std::to_string(axis) + " has no range " +
                                         std::to_string(begin) + ":" + std::to_string(end));
  if (at == inner.ranges.end())
    inner.ranges.push_back({stored_axis, begin, end});
  else
    *at = {stored_axis, at->begin + begin, at->begin + end};
  return inner;
}

View transposed(View inner, std::size_t rank) {
  if (rank < 2) throw Error(ErrorKind::internal, "transposed: fewer than two axes");
  if (inner.permutation.empty()) inner.permutation = identity(rank);
  std::swap(inner.permutation[rank - 1], inner.permutation[rank - 2]);
  if (inner.permutation == identity(rank)) inner.permutation.clear();
  return inner;
}

void copy_rows(const TensorView& tensor, const View& view, std::int64_t begin, std::int64_t end, DType dtype,
               std::span<std::byte> out) {
  Strided s = strided(view, tensor.shape);
  if (tensor.bytes.size() != bytes_of(tensor.dtype, tensor.shape))
    throw Error(ErrorKind::integrity, "a tensor of shape " + to_string(tensor.shape) + " has " +
                                          std::to_string(tensor.bytes.size()) + " bytes");
  if (!s.sizes.empty()) {
    if (begin < 0 || end < begin || end > s.sizes[0])
      throw Error(ErrorKind::internal, "copy_rows: rows outside of shape " + to_string(s.sizes));
    s.offset += begin * s.strides[0];
    s.sizes[0] = end - begin;
  }
  const auto count = static_cast<std::size_t>(elements(s.sizes));
  if (out.size() != count * size_of(dtype))
    throw Error(ErrorKind::internal, "copy_rows: buffer of another size");
  if (tensor.dtype == dtype) return copy_bytes(tensor.bytes.data(), s, size_of(dtype), out.data());
  std::vector<std::byte> stored(count * size_of(tensor.dtype));
  copy_bytes(tensor.bytes.data(), s, size_of(tensor.dtype), stored.data());
  convert(stored, tensor.dtype, out, dtype);
}

Tensor materialize(const TensorView& tensor, const View& view, DType dtype) {
  Tensor out(dtype, shape_of(view, tensor.shape));
  copy_rows(tensor, view, 0, out.shape().empty() ? 1 : out.shape()[0], dtype, out.bytes());
  return out;
}

}  // namespace hf
