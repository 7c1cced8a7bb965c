// One GPU behind the Device interface: memory with a cap, and one stream on which everything happens in
// order.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "runtime/cuda/matrix_product.h"
#include "runtime/device.h"

namespace hf::runtime::cuda {

// As a Device, for one thread at a time.
class CudaDevice final : public Device {
 public:
  // Throws Error{unsupported} where the GPU is too old for this build.
  CudaDevice(int index, const DeviceOptions& options);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string name() const override { return "cuda:" + std::to_string(index_); }
  MemoryInfo memory() const override { return memory_; }
  void* allocate(std::size_t bytes) override;
  void free(void* data, std::size_t bytes) override;
  void upload(void* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const void* from) override;
  bool fuses(const Op& op) const override;
  void run(const Node& node, std::span<const DeviceTensor> inputs, const DeviceTensor& output) override;
  void synchronize() override;

  // ---- for the ops in run.cpp

  Stream stream() const { return stream_; }
  void copy(void* to, const void* from, std::size_t bytes);  // on the device
  void clear(void* data, std::size_t bytes);
  // A product with a k of 0 is zeros (and the bias). False where there is no kernel.
  [[nodiscard]] bool multiply(const Product& product, const void* a, const void* b, const void* bias,
                              void* y);
  // Where a kernel reports an index outside its axis, and the number by which it names the call; the next
  // synchronize() or download() throws.
  Fault* fault() const { return fault_; }
  int place_of(const std::string& path);

 private:
  void select() const;  // this GPU for the calling thread
  Workspace workspace();
  void throw_fault();

  int index_;
  MemoryInfo memory_;
  Stream stream_ = nullptr;
  Fault* fault_ = nullptr;  // on the device
  Workspace workspace_;
  bool workspace_asked_ = false;
  std::optional<MatrixProducts> products_;
  std::map<std::string, int> places_;
  bool may_have_fault_ = false;
};

}  // namespace hf::runtime::cuda
