#include "runtime/cpu/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "graph/consume.h"
#include "runtime/cpu/kernels.h"

namespace hf::runtime {
namespace cpu {

void Memory::reserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > info_.cap_bytes - std::min(info_.cap_bytes, info_.used_bytes))
    throw Error(ErrorKind::out_of_memory, owner_ + ": " + std::to_string(bytes) + " bytes asked for, " +
                                              std::to_string(info_.used_bytes) + " of " +
                                              std::to_string(info_.cap_bytes) + " in use");
  info_.used_bytes += bytes;
  info_.peak_bytes = std::max(info_.peak_bytes, info_.used_bytes);
}

void Memory::release(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  info_.used_bytes -= bytes;
}

MemoryInfo Memory::info() const {
  const std::lock_guard lock(mutex_);
  return info_;
}

namespace {

// Runs the ops that have a kernel; the others never reach a device.
struct Kernels {
  const Call& call;

  template <class T>
  requires requires(const T& op, const Call& c) { cpu::run(op, c); }
  void lower(const T& op, const Node&, std::size_t) { cpu::run(op, call); }
  template <class T>
  requires(is_source<T> || is_one_of<T, AllReduce, AllGather>) void lower(const T&, const Node& node,
                                                                          std::size_t) {
    throw Error(ErrorKind::internal, "cpu: " + std::string(name_of(node.op)) + " is no device's to run");
  }
};

std::uint64_t machine_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : ~0ull;
}

constexpr std::size_t kAlignment = 64;

class CpuDevice : public Device {
 public:
  CpuDevice(std::string name, const DeviceOptions& options)
      : name_(std::move(name)),
        memory_(name_, options.cap_bytes > 0 ? options.cap_bytes : machine_bytes()),
        pool_(options.threads) {}

  std::string name() const override { return name_; }
  MemoryInfo memory() const override { return memory_.info(); }

  void* allocate(std::size_t bytes) override {
    memory_.reserve(bytes);
    const std::size_t rounded = std::max<std::size_t>(1, (bytes + kAlignment - 1) / kAlignment) * kAlignment;
    void* data = std::aligned_alloc(kAlignment, rounded);
    if (data == nullptr) {
      memory_.release(bytes);
      throw Error(ErrorKind::out_of_memory,
                  name_ + ": the system has no " + std::to_string(bytes) + " bytes left");
    }
    return data;
  }
  void free(void* data, std::size_t bytes) override {
    if (data == nullptr) return;
    std::free(data);
    memory_.release(bytes);
  }
  const void* adopt(std::span<const std::byte> host) override { return host.data(); }
  void upload(void* to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  void download(std::span<std::byte> to, const void* from) override {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
  }

  bool fuses(const Op& op) const override { return composite(op); }
  void run(const Node& node, std::span<const DeviceTensor> inputs, const DeviceTensor& output) override {
    const Call call{node, inputs, output, pool_, memory_};
    Kernels kernels{call};
    consume(kernels, node, 0);
  }
  void synchronize() override {}

 private:
  std::string name_;
  Memory memory_;
  ThreadPool pool_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Device> open_cpu(int index, const DeviceOptions& options) {
  const std::string name = index == 0 ? "cpu" : "cpu:" + std::to_string(index);
  return std::make_unique<cpu::CpuDevice>(name, options);
}

}  // namespace hf::runtime
