// NVIDIA GPUs as devices. A build without CUDA has absent.cpp behind these names, and no other file of this
// folder.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace hf::runtime {

// How many GPUs the driver offers; 0 without a driver, and in a build without CUDA.
int cuda_devices();

// "cuda:index". Throws Error{unsupported}, saying what lacks: the build, the driver or the GPU.
std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options);

}  // namespace hf::runtime
