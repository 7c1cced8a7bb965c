// What a CPU device has allocated, held under its cap.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>

#include "runtime/device.h"

namespace hf::runtime::cpu {

class Memory {
 public:
  Memory(std::string owner, std::uint64_t cap_bytes) : owner_(std::move(owner)), info_{0, 0, cap_bytes} {}

  void reserve(std::uint64_t bytes);  // throws Error{out_of_memory}
  void release(std::uint64_t bytes);
  MemoryInfo info() const;

 private:
  std::string owner_;
  mutable std::mutex mutex_;
  MemoryInfo info_;
};

// Working memory of a kernel, counted like any other.
template <class T>
class Scratch {
 public:
  Scratch(Memory& memory, std::size_t count) : memory_(&memory), bytes_(count * sizeof(T)) {
    memory_->reserve(bytes_);
    try {
      data_ = std::make_unique_for_overwrite<T[]>(count);
    } catch (...) {
      memory_->release(bytes_);
      throw;
    }
  }
  ~Scratch() { memory_->release(bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() { return data_.get(); }

 private:
  Memory* memory_;
  std::uint64_t bytes_;
  std::unique_ptr<T[]> data_;
};

}  // namespace hf::runtime::cpu
