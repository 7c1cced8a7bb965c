#include "runtime/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <string>

#include "base/error.h"

// Of the OpenMP runtime that oneDNN is built with; its header is not where every compiler looks.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int);
}

namespace hf::runtime::cpu {
namespace {

// Keeps oneDNN in the calling thread. The device's pool spreads the work: its threads sleep when they wait,
// OpenMP's spin, which halves the speed of a loaded machine.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneOpenMpThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

}  // namespace

// dnnl_sgemm and not the matmul primitive: that one loses half its speed at [128, 768] x [768, 3072] in
// oneDNN 2.6 and 3.2.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, Matrix<float> a, Matrix<float> b,
          float* c, std::int64_t c_stride) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, 0.0f);
    return;
  }
  const OneOpenMpThread one;
  // A single row's stride is never used, but checked to be at least its length.
  const auto stride = [](const Matrix<float>& x, std::int64_t rows, std::int64_t columns) {
    return std::max<std::int64_t>(x.stride, x.transposed ? rows : columns);
  };
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, alpha, a.data, stride(a, m, k),
                 b.data, stride(b, k, n), 0.0f, c, std::max(c_stride, n));
  if (status != dnnl_success)
    throw Error(ErrorKind::internal, "dnnl_sgemm refused [" + std::to_string(m) + ", " + std::to_string(k) +
                                         "] x [" + std::to_string(k) + ", " + std::to_string(n) +
                                         "]: status " + std::to_string(status));
}

// The oracle of tests; nothing exported computes in fp64.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, Matrix<double> a, Matrix<double> b,
          double* c, std::int64_t c_stride) {
  const std::int64_t a_row = a.transposed ? 1 : a.stride, a_column = a.transposed ? a.stride : 1;
  const std::int64_t b_row = b.transposed ? 1 : b.stride, b_column = b.transposed ? b.stride : 1;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += a.data[i * a_row + p * a_column] * b.data[p * b_row + j * b_column];
      c[i * c_stride + j] = alpha * sum;
    }
  }
}

}  // namespace hf::runtime::cpu
