// What the threads of one block work out together. Every thread must call, and every thread gets the result.
#pragma once
#include "runtime/cuda/number.cuh"

namespace hf::runtime::cuda {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kWholeWarp = 0xffffffffu;

template <class T>
HF_DEVICE inline T shuffled_xor(T value, int lanes) {
  return __shfl_xor_sync(kWholeWarp, value, lanes);
}

// `combine` must be associative and commutative, `identity` its neutral element. The order of combination
// depends on the block's size alone, so the result is the same from run to run.
template <class T, class Combine>
HF_DEVICE inline T block_reduced(T value, T identity, Combine combine) {
  HF_SHARED(T, partial, kWarp);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = combine(value, shuffled_xor(value, lanes));
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = identity;
  if (lane < blockDim.x / kWarp) value = partial[lane];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = combine(value, shuffled_xor(value, lanes));
  __syncthreads();  // the next call writes `partial` again
  return value;
}

struct Sum {
  template <class T>
  HF_BOTH T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Greatest {  // NaN, where there is one
  template <class T>
  HF_BOTH T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Least {
  template <class T>
  HF_BOTH T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

// The sums of the values of threads 0 to this one, and of all.
template <class T>
struct Scan {
  T up_to_here, all;
};
template <class T>
HF_DEVICE inline Scan<T> block_scanned(T value) {
  HF_SHARED(T, warp_sum, kWarp);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (unsigned lanes = 1; lanes < kWarp; lanes *= 2) {
    const T before = __shfl_up_sync(kWholeWarp, value, lanes);
    if (lane >= lanes) value = static_cast<T>(value + before);
  }
  if (lane == kWarp - 1) warp_sum[warp] = value;
  __syncthreads();
  Scan<T> scan = {value, T(0)};
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    const T sum = warp_sum[w];
    if (w < warp) scan.up_to_here = static_cast<T>(scan.up_to_here + sum);
    scan.all = static_cast<T>(scan.all + sum);
  }
  __syncthreads();  // the next call writes `warp_sum` again
  return scan;
}

}  // namespace hf::runtime::cuda
