// NVIDIA devices, one row of runtime/devices.cpp.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace hf::runtime {

std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options);

}  // namespace hf::runtime
