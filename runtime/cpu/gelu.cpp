#include <cmath>
#include <numbers>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"

namespace hf::runtime::cpu {
namespace {

template <class T>
T gelu_erf(T x) {
  return T(0.5) * x * (T(1) + std::erf(x * (std::numbers::sqrt2_v<T> / 2)));
}

// The approximation of https://arxiv.org/abs/1606.08415, section 2.
template <class T>
T gelu_tanh(T x) {
  const T factor = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;  // sqrt(2 / pi)
  return T(0.5) * x * (T(1) + std::tanh(factor * (x + T(0.044715) * x * x * x)));
}

}  // namespace

void run(const Gelu& op, const Call& call) {
  with_type<float, double>(call, call.out.dtype, [&]<class T>(T) {
    for_rows(call, call.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      const T* x = call.input<T>(0);
      T* y = call.output<T>();
      if (op.kind == Gelu::erf)
        for (std::int64_t i = begin; i < end; ++i) y[i] = gelu_erf(x[i]);
      else
        for (std::int64_t i = begin; i < end; ++i) y[i] = gelu_tanh(x[i]);
    });
  });
}

}  // namespace hf::runtime::cpu
