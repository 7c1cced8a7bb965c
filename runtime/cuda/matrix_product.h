// Matrix products by cuBLASLt. fp32 is multiplied as fp32, never as TF32; fp16 and bf16 are summed in fp32.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/cuda/kernels.h"

namespace hf::runtime::cuda {

// y [m, n] = a [m, k] x b [k, n], `batch` times; strides in elements from one to the next, 0 to use one
// again.
struct Product {
  DType dtype = DType::f32;
  std::int64_t m = 0, n = 0, k = 0;
  bool b_transposed = false;  // b is stored [n, k]
  bool has_bias = false;      // [n], added to each row of y
  std::int64_t batch = 1, a_stride = 0, b_stride = 0, y_stride = 0;
  auto operator<=>(const Product&) const = default;
};

struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// Finds an algorithm for each product once, and keeps it. Not for two threads at a time.
class MatrixProducts {
 public:
  MatrixProducts();  // for the current device; throws Error{internal} where cuBLASLt does not start
  ~MatrixProducts();
  MatrixProducts(const MatrixProducts&) = delete;
  MatrixProducts& operator=(const MatrixProducts&) = delete;

  // False where cuBLASLt has no algorithm for it (a bias is not fused everywhere) or the dtype is none of the
  // three. m, n, k and batch > 0.
  [[nodiscard]] bool run(Stream, const Product&, const void* a, const void* b, const void* bias, void* y,
                         Workspace);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hf::runtime::cuda
