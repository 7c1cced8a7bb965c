// The part of the CUDA runtime that runtime/cuda calls, over host memory. Streams do their work at once. New
// memory is filled with bytes that read as NaN, so that a result which nobody wrote shows.
#pragma once
#include <cstdlib>
#include <cstring>

#include "emulator/emulated_gpu.h"

struct CUstream_st {};
using cudaStream_t = CUstream_st*;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedPtxVersion = 222
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
inline constexpr unsigned cudaStreamNonBlocking = 1;

inline const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaSuccess ? "no error" : "CUDA error";
}

inline cudaError_t cudaGetLastError() {
  return hf::emulator::emulated_gpus().old_gpu ? cudaErrorNoKernelImageForDevice : cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = hf::emulator::emulated_gpus().driver_version;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  const auto& gpus = hf::emulator::emulated_gpus();
  *count = 0;
  if (gpus.driver_version < 13000) return cudaErrorInsufficientDriver;
  *count = gpus.count;
  return gpus.count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
inline cudaError_t cudaSetDevice(int index) {
  return index >= 0 && index < hf::emulator::emulated_gpus().count ? cudaSuccess : cudaErrorInvalidDevice;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const auto& gpus = hf::emulator::emulated_gpus();
  *total_bytes = gpus.total_bytes;
  *free_bytes = gpus.total_bytes - gpus.used_bytes;
  return cudaSuccess;
}

inline cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  auto& gpus = hf::emulator::emulated_gpus();
  if (bytes > gpus.total_bytes - gpus.used_bytes) return cudaErrorMemoryAllocation;
  if (posix_memalign(data, 256, bytes) != 0) return cudaErrorMemoryAllocation;
  std::memset(*data, 0xff, bytes);
  gpus.used_bytes += bytes;
  gpus.allocations[*data] = bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* data) {
  auto& gpus = hf::emulator::emulated_gpus();
  if (data == nullptr) return cudaSuccess;
  const auto allocation = gpus.allocations.find(data);
  if (allocation == gpus.allocations.end()) return cudaErrorInvalidValue;
  gpus.used_bytes -= allocation->second;
  gpus.allocations.erase(allocation);
  std::free(data);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
