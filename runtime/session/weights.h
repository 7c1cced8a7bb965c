// A graph's weights and constants in a device's memory.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "runtime/device.h"

namespace hf::runtime {

// Memory of a device, given back at the end.
class DeviceBuffer {
 public:
  DeviceBuffer(Device& device, std::size_t bytes)
      : device_(&device), data_(device.allocate(bytes)), bytes_(bytes) {}
  ~DeviceBuffer() { device_->free(data_, bytes_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Device* device_;
  void* data_;
  std::size_t bytes_;
};

// Where a device reads a tensor's view in place: its bytes lie together, in order, aligned, in `dtype`. Null
// elsewhere.
const void* in_place(Device& device, const TensorView& tensor, const View& view, DType dtype);

class Weights {
 public:
  Weights(Device& device, std::shared_ptr<const Checkpoint> checkpoint)
      : device_(device), checkpoint_(std::move(checkpoint)) {}

  // Loads what `graph` names; what several nodes share is loaded once.
  void load(const Graph& graph);
  // A source node's value: a weight or constant that was loaded. Null data where it was not.
  DeviceTensor find(const Node& node) const;

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t mapped_bytes() const { return mapped_bytes_; }
  std::uint64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  std::string key_of(const Weight& weight, DType dtype) const;
  void* load_weight(const Weight& weight, const DeviceTensor& tensor);
  void* store(const TensorView& tensor, const View& view, const DeviceTensor& as);

  Device& device_;
  std::shared_ptr<const Checkpoint> checkpoint_;
  std::map<std::string, DeviceTensor> weights_;
  std::map<std::shared_ptr<const Tensor>, DeviceTensor> constants_;
  std::vector<DeviceBuffer> buffers_;
  std::uint64_t bytes_ = 0, mapped_bytes_ = 0, allocated_bytes_ = 0;
};

}  // namespace hf::runtime
