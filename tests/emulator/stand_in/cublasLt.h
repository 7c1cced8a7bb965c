// The part of cuBLASLt that runtime/cuda calls, computed plainly. What the real one would refuse is refused:
// leading dimensions too small, shapes that do not multiply, pointers less aligned than promised, an
// algorithm of another description.
//
// As in cuBLAS, matrices lie by columns: element (row, column) is at column * leading + row.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tensor/half.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_NOT_SUPPORTED = 15
};
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasLtEpilogue_t { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4 };
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};

namespace hf::emulator {

struct Handle {};
struct MatmulDescription {
  cublasComputeType_t compute;
  cublasOperation_t transpose_first = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct MatrixLayout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

  std::size_t element_bytes() const { return type == CUDA_R_32F ? 4 : 2; }
};
struct MatmulPreference {
  std::uint64_t workspace_bytes = 0;
  std::uint32_t alignment_a = 256, alignment_b = 256, alignment_c = 256, alignment_d = 256;
};
struct MatmulAlgorithm {
  const void* description = nullptr;
  MatmulPreference preference;
};

inline float element(const MatrixLayout& layout, const void* data, std::int64_t index) {
  if (layout.type == CUDA_R_32F) return static_cast<const float*>(data)[index];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[index];
  return layout.type == CUDA_R_16F ? f16_to_f32(bits) : bf16_to_f32(bits);
}
inline void set_element(const MatrixLayout& layout, void* data, std::int64_t index, float value) {
  if (layout.type == CUDA_R_32F)
    static_cast<float*>(data)[index] = value;
  else
    static_cast<std::uint16_t*>(data)[index] =
        layout.type == CUDA_R_16F ? f32_to_f16(value) : f32_to_bf16(value);
}
inline bool aligned(const void* data, std::uint32_t alignment) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

}  // namespace hf::emulator

using cublasLtHandle_t = hf::emulator::Handle*;
using cublasLtMatmulDesc_t = hf::emulator::MatmulDescription*;
using cublasLtMatrixLayout_t = hf::emulator::MatrixLayout*;
using cublasLtMatmulPreference_t = hf::emulator::MatmulPreference*;
using cublasLtMatmulAlgo_t = hf::emulator::MatmulAlgorithm;
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  cublasStatus_t state;
};

inline const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                               : "CUBLAS_STATUS_NOT_SUPPORTED";
}

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new hf::emulator::Handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t compute,
                                               cudaDataType_t) {
  *d = new hf::emulator::MatmulDescription{compute};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                     cublasLtMatmulDescAttributes_t name, const void* value,
                                                     std::size_t bytes) {
  void* const to = name == CUBLASLT_MATMUL_DESC_TRANSA     ? static_cast<void*>(&d->transpose_first)
                   : name == CUBLASLT_MATMUL_DESC_EPILOGUE ? static_cast<void*>(&d->epilogue)
                                                           : static_cast<void*>(&d->bias);
  if (bytes != (name == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? 8u : 4u)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t leading) {
  if (leading < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = new hf::emulator::MatrixLayout{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t name,
                                                       const void* value, std::size_t bytes) {
  const bool batch = name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (bytes != (batch ? 4u : 8u)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(batch ? static_cast<void*>(&layout->batch) : &layout->stride, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = new hf::emulator::MatmulPreference;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                           cublasLtMatmulPreferenceAttributes_t name,
                                                           const void* value, std::size_t bytes) {
  void* const to = name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? static_cast<void*>(&p->workspace_bytes)
                   : name == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES ? static_cast<void*>(&p->alignment_a)
                   : name == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES ? static_cast<void*>(&p->alignment_b)
                   : name == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES ? static_cast<void*>(&p->alignment_c)
                                                                        : static_cast<void*>(&p->alignment_d);
  if (bytes != (to == &p->workspace_bytes ? 8u : 4u)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatmulPreference_t preference, int wanted,
                                                     cublasLtMatmulHeuristicResult_t* results, int* found) {
  *found = 0;
  if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
  if (d->epilogue == CUBLASLT_EPILOGUE_BIAS && !hf::emulator::emulated_gpus().fuses_bias)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {{d, *preference}, CUBLAS_STATUS_SUCCESS};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

// result = op(first) x second, plus the bias along its rows; alpha is 1 and beta 0.
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t first, const void* b,
                                     cublasLtMatrixLayout_t second, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t, void* y, cublasLtMatrixLayout_t result,
                                     const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                                     std::size_t workspace_bytes, cudaStream_t) {
  using hf::emulator::aligned;
  const bool turned = d->transpose_first == CUBLAS_OP_T;
  const std::uint64_t m = turned ? first->columns : first->rows, k = turned ? first->rows : first->columns;
  const auto& promised = algorithm->preference;
  const bool good = m == result->rows && k == second->rows && second->columns == result->columns &&
                    first->batch == result->batch && second->batch == result->batch && c == y &&
                    *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0 &&
                    algorithm->description == d && aligned(a, promised.alignment_a) &&
                    aligned(b, promised.alignment_b) && aligned(y, promised.alignment_c) &&
                    aligned(y, promised.alignment_d) && workspace_bytes >= promised.workspace_bytes &&
                    (workspace != nullptr || workspace_bytes == 0) &&
                    (d->epilogue != CUBLASLT_EPILOGUE_BIAS || d->bias != nullptr) &&
                    (first->type != CUDA_R_32F || d->compute == CUBLAS_COMPUTE_32F_PEDANTIC);
  if (!good) return CUBLAS_STATUS_INVALID_VALUE;
  ++hf::emulator::emulated_gpus().products;
  for (std::int64_t i = 0; i < result->batch; ++i)
    for (std::int64_t column = 0; column < static_cast<std::int64_t>(result->columns); ++column)
      for (std::int64_t row = 0; row < static_cast<std::int64_t>(m); ++row) {
        double sum = 0;
        for (std::int64_t j = 0; j < static_cast<std::int64_t>(k); ++j) {
          const std::int64_t at = turned ? row * first->leading + j : j * first->leading + row;
          sum += static_cast<double>(element(*first, a, i * first->stride + at)) *
                 element(*second, b, i * second->stride + column * second->leading + j);
        }
        if (d->epilogue == CUBLASLT_EPILOGUE_BIAS) sum += element(*result, d->bias, row);
        set_element(*result, y, i * result->stride + column * result->leading + row, static_cast<float>(sum));
      }
  return CUBLAS_STATUS_SUCCESS;
}
