// Matrix products in one thread: c = alpha * a x b, all row-major with strides between rows.
#pragma once
#include <cstdint>

namespace hf::runtime::cpu {

template <class T>
struct Matrix {
  const T* data;
  std::int64_t stride;      // elements from one stored row to the next
  bool transposed = false;  // stored with rows and columns swapped
};

// a [m, k], b [k, n], c [m, n].
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, Matrix<float> a, Matrix<float> b,
          float* c, std::int64_t c_stride);
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, Matrix<double> a, Matrix<double> b,
          double* c, std::int64_t c_stride);

}  // namespace hf::runtime::cpu
