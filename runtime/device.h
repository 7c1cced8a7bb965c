// What runs a graph: memory, and one op at a time on it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace hf::runtime {

struct MemoryInfo {
  std::uint64_t used_bytes = 0;  // by this Device object
  std::uint64_t peak_bytes = 0;
  std::uint64_t cap_bytes = 0;  // what it may use
};

// A tensor in a device's memory. Dense and row-major; what was allocated begins at a multiple of 64 bytes,
// what was adopted at one of its element's size.
struct DeviceTensor {
  void* data = nullptr;
  DType dtype = DType::f32;
  Sizes shape;
  std::size_t bytes() const { return static_cast<std::size_t>(elements(shape)) * size_of(dtype); }
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;  // "cpu", "cuda:0"
  virtual MemoryInfo memory() const = 0;

  // Never null. Throws Error{out_of_memory} with what is asked, used and allowed.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* data, std::size_t bytes) = 0;
  // Where the device reads `host` in place: mapped weights need no copy. Null where it cannot.
  virtual const void* adopt(std::span<const std::byte>) { return nullptr; }
  virtual void upload(void* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const void* from) = 0;

  // Whether it has a kernel for the composite; those it has not are decomposed before run() sees them.
  virtual bool fuses(const Op& op) const = 0;
  // Runs one node of a bound graph: `inputs` in the node's order (data null where an optional one is absent),
  // `output` allocated by the caller. Throws Error{unsupported} naming op and dtype.
  virtual void run(const Node& node, std::span<const DeviceTensor> inputs, const DeviceTensor& output) = 0;
  virtual void synchronize() = 0;
};

struct DeviceOptions {
  std::size_t threads = 0;      // 0: one a core
  std::uint64_t cap_bytes = 0;  // 0: what the machine has
};

// One row a kind of device: devices.cpp.
struct DeviceKind {
  std::string_view name, help;
  // Opens device number `index`; a build or machine without it throws Error{unsupported} that says so.
  std::unique_ptr<Device> (*open)(int index, const DeviceOptions& options);
};
std::span<const DeviceKind> device_kinds();

// "cpu", "cuda", "cuda:1". Throws Error{usage} listing the kinds.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options = {});

}  // namespace hf::runtime
