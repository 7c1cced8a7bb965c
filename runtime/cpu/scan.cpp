// Kernels that go along one axis: ArgMax and CumSum.
#include <type_traits>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"

namespace hf::runtime::cpu {
namespace {

// A shape around one axis: [outer, size, inner].
struct Lines {
  std::int64_t outer, size, inner;
};

Lines lines_of(const Sizes& shape, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  const std::span<const std::int64_t> sizes(shape);
  return {elements(sizes.first(at)), sizes[at], elements(sizes.subspan(at + 1))};
}

// f(number, first, step) for each line along the axis, by the index of its first element.
template <class F>
void for_lines(const Call& call, const Lines& lines, F&& f) {
  for_rows(call, lines.outer * lines.inner, lines.size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      f(i, i / lines.inner * lines.size * lines.inner + i % lines.inner, lines.inner);
  });
}

}  // namespace

void run(const ArgMax& op, const Call& call) {
  const Lines lines = lines_of(call.in[0].shape, op.axis);
  if (lines.size == 0 && call.size() > 0)
    throw Error(ErrorKind::usage, subject(call) + ": no elements to choose from");
  with_type<float, double, std::int64_t, std::int32_t>(call, call.in[0].dtype, [&]<class T>(T) {
    const T* x = call.input<T>(0);
    for_lines(call, lines, [&](std::int64_t i, std::int64_t first, std::int64_t step) {
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < lines.size; ++j) {
        const T value = x[first + j * step], greatest = x[first + best * step];
        if (value > greatest || (value != value && greatest == greatest)) best = j;  // a NaN is the greatest
      }
      call.output<std::int64_t>()[i] = best;
    });
  });
}

void run(const CumSum& op, const Call& call) {
  const Lines lines = lines_of(call.in[0].shape, op.axis);
  with_type<float, double, std::int64_t, std::int32_t>(call, call.out.dtype, [&]<class T>(T) {
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
    for_lines(call, lines, [&](std::int64_t, std::int64_t first, std::int64_t step) {
      Sum sum = 0;
      for (std::int64_t j = 0; j < lines.size; ++j) {
        sum += static_cast<Sum>(call.input<T>(0)[first + j * step]);
        call.output<T>()[first + j * step] = static_cast<T>(sum);
      }
    });
  });
}

}  // namespace hf::runtime::cpu
