// The words that kernels are written in. nvcc gives them their CUDA meaning; a plain C++ compiler gets them
// from the emulator that the tests include first, so that the same source also runs on a CPU.
//
//   HF_KERNEL                        a function that launch() starts on the device
//   HF_DEVICE, HF_BOTH               a function for the device; for device and host (index arithmetic)
//   HF_SHARED(T, name, n)            T name[n], one for the whole block
//   HF_DYNAMIC_SHARED(T, name)       T name[], as long as the launch says
//   launch(geometry, stream, kernel, arguments…)
//
// and threadIdx.x, blockIdx.x, blockDim.x, gridDim.x, __syncthreads(), the __shfl_*_sync() functions over a
// full warp, and atomics. A shared array is only ever indexed: the emulator watches each access for races.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/cuda/geometry.h"
#include "runtime/cuda/kernels.h"

#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define HF_KERNEL __global__
#define HF_DEVICE __device__
#define HF_BOTH __host__ __device__
#define HF_SHARED(T, name, n) __shared__ T name[n]
#define HF_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char hf_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(hf_dynamic_shared)

namespace hf::runtime::cuda {

template <class... P>
void launch(Geometry g, Stream stream, void (*kernel)(P...), std::type_identity_t<P>... arguments) {
  kernel<<<g.blocks, g.threads, g.shared_bytes, stream>>>(arguments...);
}

HF_BOTH inline float float_of_half(std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
HF_BOTH inline std::uint16_t half_of_float(float value) { return __half_as_ushort(__float2half_rn(value)); }

}  // namespace hf::runtime::cuda

#elif !defined(HF_KERNEL)
#error "kernels are compiled by nvcc, or by a C++ compiler after tests/emulator/cuda_emulator.h"
#endif
