#include "runtime/cuda/walk.h"

#include <limits>
#include <string>

#include "base/error.h"

namespace hf::runtime::cuda {

Numbers dense_strides(std::span<const std::int64_t> shape) {
  Numbers strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Numbers broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> over) {
  if (shape.size() > over.size())
    throw Error(ErrorKind::internal, "cuda: a tensor has more axes than what it broadcasts to");
  Numbers strides(over.size(), 0);
  const Numbers dense = dense_strides(shape);
  const std::size_t lead = over.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && shape[i] != over[lead + i])
      throw Error(ErrorKind::internal, "cuda: size " + std::to_string(shape[i]) + " does not broadcast to " +
                                           std::to_string(over[lead + i]));
    if (shape[i] != 1) strides[lead + i] = dense[i];
  }
  return strides;
}

namespace {

// Whether axis `outer` continues axis `inner` of the walk for every tensor.
template <int N>
bool in_one_piece(const std::array<Numbers, N>& strides, std::size_t outer, const Walk<N>& walk) {
  for (int n = 0; n < N; ++n) {
    const std::int64_t inner = walk.stride[n][walk.rank - 1] * walk.size[walk.rank - 1];
    if (strides[static_cast<std::size_t>(n)][outer] != inner) return false;
  }
  return true;
}

template <int N>
void reverse_axes(Walk<N>& walk) {
  for (int a = 0, b = walk.rank - 1; a < b; ++a, --b) {
    std::swap(walk.size[a], walk.size[b]);
    for (int n = 0; n < N; ++n) std::swap(walk.stride[n][a], walk.stride[n][b]);
  }
}

template <int N>
bool fits_31_bits(const Walk<N>& walk) {
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  bool fits = walk.count <= limit;
  for (int n = 0; n < N; ++n) {
    std::int64_t last = 0;
    for (int axis = 0; axis < walk.rank; ++axis) last += (walk.size[axis] - 1) * walk.stride[n][axis];
    fits = fits && last <= limit;
  }
  return fits;
}

}  // namespace

template <int N>
Walk<N> make_walk(std::span<const std::int64_t> sizes, const std::array<Numbers, N>& strides) {
  Walk<N> walk;
  walk.count = 1;
  for (const std::int64_t size : sizes) walk.count *= size;
  if (walk.count == 0) return walk;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {  // from the innermost, which ends up last
    if (sizes[axis] == 1) continue;
    if (walk.rank > 0 && in_one_piece<N>(strides, axis, walk)) {
      walk.size[walk.rank - 1] *= sizes[axis];
      continue;
    }
    if (walk.rank == kMaxRank)
      throw Error(ErrorKind::unsupported, "cuda: a tensor of " + std::to_string(sizes.size()) +
                                              " axes that cannot be merged, expected at most " +
                                              std::to_string(kMaxRank));
    walk.size[walk.rank] = sizes[axis];
    for (int n = 0; n < N; ++n) walk.stride[n][walk.rank] = strides[static_cast<std::size_t>(n)][axis];
    ++walk.rank;
  }
  reverse_axes(walk);
  walk.narrow = fits_31_bits(walk);
  return walk;
}

template Walk<1> make_walk<1>(std::span<const std::int64_t>, const std::array<Numbers, 1>&);
template Walk<2> make_walk<2>(std::span<const std::int64_t>, const std::array<Numbers, 2>&);
template Walk<3> make_walk<3>(std::span<const std::int64_t>, const std::array<Numbers, 3>&);

}  // namespace hf::runtime::cuda
