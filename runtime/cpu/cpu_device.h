// The machine's processor as a device: one row of runtime/devices.cpp.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace hf::runtime {

// Devices of different index share the cores and nothing else: each has its own threads and memory account,
// so that several stand for several machines in one process.
std::unique_ptr<Device> open_cpu(int index, const DeviceOptions& options);

}  // namespace hf::runtime
