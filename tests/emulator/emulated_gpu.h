// What the stand-ins of the CUDA runtime and of cuBLASLt pretend to: one machine's GPUs, as a test wants
// them.
#pragma once
#include <cstddef>
#include <map>

namespace hf::emulator {

struct EmulatedGpus {
  int count = 1;
  int driver_version = 13000;  // 0: there is none
  bool old_gpu = false;        // the build holds no code for it
  std::size_t total_bytes = std::size_t{1} << 30;
  std::size_t used_bytes = 0;
  std::map<void*, std::size_t> allocations;
  bool fuses_bias = true;    // whether matrix products take a bias
  std::size_t products = 0;  // how many were run
};

inline EmulatedGpus& emulated_gpus() {
  static EmulatedGpus gpus;
  return gpus;
}

}  // namespace hf::emulator
