// A weight's part of a checkpoint tensor: reshape, then a range per axis, then a permutation of the axes.
// That covers fused projections (GPT-2's transposed c_attn, stacked experts), tensor-parallel slices and
// transposed layouts; none of it copies.
#pragma once
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace hf {

struct AxisRange {
  int axis = 0;
  std::int64_t begin = 0, end = 0;
  bool operator==(const AxisRange&) const = default;
};

struct View {
  Sizes reshape;                  // empty: as stored
  std::vector<AxisRange> ranges;  // of the reshaped axes; an axis that is not named is whole
  std::vector<int> permutation;   // empty: as it is; otherwise output axis i is input axis permutation[i]
  bool operator==(const View&) const = default;
  bool is_identity() const { return reshape.empty() && ranges.empty() && permutation.empty(); }
};

// A checkpoint tensor by name, with the other names that the same parameter goes by (tied weights, old
// spellings).
struct TensorRef {
  std::string name;
  std::vector<std::string> aliases;  // in order of preference, after `name`
  View view;
};

// How a view prints behind a tensor's name: "" as stored, "[:,0:40]", ".T", "[:,0:40].T", "{2,3,8}[0:1,:,:]".
std::string to_string(const View& view, std::size_t stored_rank);

// The view's shape over a tensor of `stored` sizes; throws Error{integrity} where they do not fit.
Sizes shape_of(const View& view, const Sizes& stored);

// The composition "first `inner`, then this": a range along an output axis, or the last two of `rank` axes
// swapped.
View narrowed(View inner, int axis, std::int64_t begin, std::int64_t end);
View transposed(View inner, std::size_t rank);

// Elements [begin, end) of the view's outermost axis, row-major and converted to `dtype`, into `out`; so a
// caller can stream any tensor through a small buffer. A rank-0 view has one such row.
void copy_rows(const TensorView& tensor, const View& view, std::int64_t begin, std::int64_t end, DType dtype,
               std::span<std::byte> out);
Tensor materialize(const TensorView& tensor, const View& view, DType dtype);

}  // namespace hf
