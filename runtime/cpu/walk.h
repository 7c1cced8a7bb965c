// Walks an output with inputs broadcast to it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/shape.h"

namespace hf::runtime::cpu {

// Sizes of an output with, for each of N inputs, the stride in elements along each axis: 0 where the input is
// stretched. Axes that are walked alike by all are merged, so that most calls have one or two.
template <std::size_t N>
struct Walk {
  Sizes sizes;
  std::vector<std::int64_t> strides[N];

  std::int64_t inner() const { return sizes.back(); }
};

// Row-major strides of `from`, aligned at the end of `to`, 0 along stretched axes.
Sizes broadcast_strides(const Sizes& from, const Sizes& to);

template <std::size_t N>
Walk<N> walk(const Sizes& to, const Sizes* const (&from)[N]) {
  Walk<N> out;
  Sizes strides[N];
  for (std::size_t n = 0; n < N; ++n) strides[n] = broadcast_strides(*from[n], to);
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (to[axis] == 1) continue;
    bool merges = !out.sizes.empty();
    for (std::size_t n = 0; n < N && merges; ++n)
      merges = out.strides[n].back() == strides[n][axis] * to[axis];
    if (merges) {
      out.sizes.back() *= to[axis];
      for (std::size_t n = 0; n < N; ++n) out.strides[n].back() = strides[n][axis];
      continue;
    }
    out.sizes.push_back(to[axis]);
    for (std::size_t n = 0; n < N; ++n) out.strides[n].push_back(strides[n][axis]);
  }
  if (out.sizes.empty()) {
    out.sizes.push_back(1);
    for (std::size_t n = 0; n < N; ++n) out.strides[n].push_back(0);
  }
  return out;
}

// Calls f(at, offsets, count) for pieces of rows that together are the output's elements [begin, end):
// `count` elements from `at`, and each input's first element for them. An input's stride within a piece is
// strides[n].back().
template <std::size_t N, class F>
void for_pieces(const Walk<N>& w, std::int64_t begin, std::int64_t end, F&& f) {
  if (begin >= end) return;
  const std::size_t axes = w.sizes.size();
  std::vector<std::int64_t> index(axes);
  std::int64_t rest = begin;
  for (std::size_t axis = axes; axis-- > 0;) {
    index[axis] = rest % w.sizes[axis];
    rest /= w.sizes[axis];
  }
  while (begin < end) {
    std::int64_t offsets[N] = {};
    for (std::size_t n = 0; n < N; ++n)
      for (std::size_t axis = 0; axis < axes; ++axis) offsets[n] += index[axis] * w.strides[n][axis];
    const std::int64_t count = std::min(end - begin, w.inner() - index[axes - 1]);
    f(begin, offsets, count);
    begin += count;
    index[axes - 1] += count;
    for (std::size_t axis = axes - 1; axis > 0 && index[axis] == w.sizes[axis]; --axis) {
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

}  // namespace hf::runtime::cpu
