// CUDA's and cuBLASLt's status codes as Errors.
#pragma once
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string>

#include "base/error.h"

namespace hf::runtime::cuda {

inline void check(cudaError_t status, const std::string& subject) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next call would report it again
  throw Error(ErrorKind::internal, subject + ": " + cudaGetErrorString(status));
}

inline void check(cublasStatus_t status, const std::string& subject) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorKind::internal, subject + ": " + cublasLtGetStatusString(status));
}

}  // namespace hf::runtime::cuda
