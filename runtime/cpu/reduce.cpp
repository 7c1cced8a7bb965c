#include <algorithm>
#include <type_traits>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"

namespace hf::runtime::cpu {
namespace {

// Axes of the input with their strides in elements: those that stay, and those that are reduced.
struct Axes {
  Sizes kept, kept_strides, reduced, reduced_strides;
};

Axes axes_of(const Reduce& op, const Sizes& shape) {
  Axes axes;
  std::int64_t stride = elements(shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride = shape[axis] > 0 ? stride / shape[axis] : 0;
    const bool reduced = std::find(op.axes.begin(), op.axes.end(), static_cast<int>(axis)) != op.axes.end();
    (reduced ? axes.reduced : axes.kept).push_back(shape[axis]);
    (reduced ? axes.reduced_strides : axes.kept_strides).push_back(stride);
  }
  return axes;
}

std::int64_t offset_of(std::int64_t number, const Sizes& sizes, const Sizes& strides) {
  std::int64_t offset = 0;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    offset += number % sizes[axis] * strides[axis];
    number /= sizes[axis];
  }
  return offset;
}

// Floats are summed in fp64: one rounding at the end, whatever the order.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

template <class T>
T combined(Reduce::Kind kind, T best, T x) {
  if (best != best) return best;  // a NaN stays one
  return (kind == Reduce::maximum ? x > best : x < best) || x != x ? x : best;
}

template <class T>
void reduce(Reduce::Kind kind, const Axes& axes, const Call& call) {
  const std::int64_t count = elements(axes.reduced);
  const bool adds = kind == Reduce::sum || kind == Reduce::mean;
  if (!adds && count == 0 && call.size() > 0)
    throw Error(ErrorKind::usage, subject(call) + ": no elements to choose from");
  if (kind == Reduce::mean && !std::is_floating_point_v<T>)
    throw Error(ErrorKind::unsupported, subject(call) + " has no CPU kernel for the mean of integers");
  for_rows(call, call.size(), count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* x = call.input<T>(0) + offset_of(i, axes.kept, axes.kept_strides);
      if (adds) {
        Sum<T> sum = 0;
        for (std::int64_t j = 0; j < count; ++j)
          sum += static_cast<Sum<T>>(x[offset_of(j, axes.reduced, axes.reduced_strides)]);
        if (kind == Reduce::mean) sum /= static_cast<Sum<T>>(count);
        call.output<T>()[i] = static_cast<T>(sum);
      } else {
        T best = x[0];
        for (std::int64_t j = 1; j < count; ++j)
          best = combined(kind, best, x[offset_of(j, axes.reduced, axes.reduced_strides)]);
        call.output<T>()[i] = best;
      }
    }
  });
}

}  // namespace

void run(const Reduce& op, const Call& call) {
  const Axes axes = axes_of(op, call.in[0].shape);
  with_type<float, double, std::int64_t, std::int32_t>(call, call.out.dtype,
                                                       [&]<class T>(T) { reduce<T>(op.kind, axes, call); });
}

}  // namespace hf::runtime::cpu
