// exp(x - max) / sum over one row: shared by Softmax and Attention.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace hf::runtime::cpu {

// Elements x[0], x[step], … x[(count - 1) * step] into y alike; x and y may be the same.
template <class T>
void softmax_row(const T* x, T* y, std::int64_t count, std::int64_t step = 1) {
  T top = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < count; ++i) top = x[i * step] > top ? x[i * step] : top;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    y[i * step] = std::exp(x[i * step] - top);
    sum += y[i * step];
  }
  const T factor = static_cast<T>(1 / sum);
  for (std::int64_t i = 0; i < count; ++i) y[i * step] *= factor;
}

}  // namespace hf::runtime::cpu
