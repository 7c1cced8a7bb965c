#include <cmath>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"

namespace hf::runtime::cpu {
namespace {

// The sum of f(0), f(1), … in fp64, in eight interleaved sums so that additions overlap.
template <class F>
double sum_of(std::int64_t count, F&& f) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::int64_t lane = 0; lane < 8; ++lane) sums[lane] += f(i + lane);
  for (; i < count; ++i) sums[i % 8] += f(i);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// The mean first, then the squares of what is left: E[x^2] - E[x]^2 cancels where the mean is large.
template <class T>
void layer_norm(float epsilon, const Call& call) {
  const std::int64_t width = call.out.shape.back(), rows = width > 0 ? call.size() / width : 0;
  const T *weight = call.input<T>(1), *bias = call.input<T>(2);
  for_rows(call, rows, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* x = call.input<T>(0) + row * width;
      T* y = call.output<T>() + row * width;
      const double mean = sum_of(width, [&](std::int64_t i) { return static_cast<double>(x[i]); }) /
                          static_cast<double>(width);
      const double variance = sum_of(width,
                                     [&](std::int64_t i) {
                                       const double d = static_cast<double>(x[i]) - mean;
                                       return d * d;
                                     }) /
                              static_cast<double>(width);
      const double scale = 1 / std::sqrt(variance + static_cast<double>(epsilon));
      for (std::int64_t i = 0; i < width; ++i)
        y[i] = static_cast<T>((static_cast<double>(x[i]) - mean) * scale) * weight[i] + bias[i];
    }
  });
}

}  // namespace

void run(const LayerNorm& op, const Call& call) {
  with_type<float, double>(call, call.out.dtype, [&]<class T>(T) { layer_norm<T>(op.epsilon, call); });
}

}  // namespace hf::runtime::cpu
