#include "runtime/cuda/cuda_device.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "runtime/cuda/status.cuh"

namespace hf::runtime::cuda {
namespace {

// What cuBLASLt may use beside the tensors; more helps only products far larger than those of a small batch.
constexpr std::size_t kWorkspaceBytes = std::size_t{8} << 20;

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

CudaDevice::CudaDevice(int index, const DeviceOptions& options) : index_(index) {
  select();
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), name());
  memory_.cap_bytes = options.cap_bytes > 0 ? options.cap_bytes : free_bytes;
  void* fault = nullptr;
  check(cudaMalloc(&fault, sizeof(Fault)), name());
  fault_ = static_cast<Fault*>(fault);
  try {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), name());
    range(stream_, 0, &fault_->index, 1);  // does this build hold code for this GPU?
    const cudaError_t started = cudaGetLastError();
    if (started == cudaErrorNoKernelImageForDevice || started == cudaErrorInvalidDeviceFunction ||
        started == cudaErrorUnsupportedPtxVersion)
      throw Error(
          ErrorKind::unsupported,
          name() +
              ": this GPU's compute capability is none that the program was built for, expected one of " +
              "CMAKE_CUDA_ARCHITECTURES");
    check(started, name());
    clear(fault_, sizeof(Fault));
    check(cudaStreamSynchronize(stream_), name());
  } catch (...) {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    (void)cudaFree(fault_);
    throw;
  }
}

CudaDevice::~CudaDevice() {
  (void)cudaSetDevice(index_);
  products_.reset();
  (void)cudaFree(workspace_.data);
  (void)cudaFree(fault_);
  (void)cudaStreamDestroy(stream_);
}

void CudaDevice::select() const { check(cudaSetDevice(index_), name()); }

void* CudaDevice::allocate(std::size_t bytes) {
  select();
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::out_of_memory, name() + ": " + bytes_text(bytes) + " asked with " +
                                              bytes_text(memory_.used_bytes) + " in use, " + why);
  };
  if (bytes > memory_.cap_bytes - memory_.used_bytes) refuse(bytes_text(memory_.cap_bytes) + " allowed");
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, std::max(bytes, std::size_t{1}));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    refuse("and the GPU has no such piece left");
  }
  check(status, name());
  memory_.used_bytes += bytes;
  memory_.peak_bytes = std::max(memory_.peak_bytes, memory_.used_bytes);
  return data;
}

// Waits for what still uses the memory, as cudaFree does.
void CudaDevice::free(void* data, std::size_t bytes) {
  if (data == nullptr) return;
  select();
  check(cudaFree(data), name());
  memory_.used_bytes -= bytes;
}

void CudaDevice::upload(void* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  select();
  check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_), name());
  check(cudaStreamSynchronize(stream_), name());
}

void CudaDevice::download(std::span<std::byte> to, const void* from) {
  select();
  if (!to.empty())
    check(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_), name());
  synchronize();
}

void CudaDevice::synchronize() {
  select();
  check(cudaStreamSynchronize(stream_), name());
  if (may_have_fault_) throw_fault();
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), name());
}

void CudaDevice::clear(void* data, std::size_t bytes) {
  if (bytes > 0) check(cudaMemsetAsync(data, 0, bytes, stream_), name());
}

// The workspace counts as used; where the cap has no room for it, products do without.
Workspace CudaDevice::workspace() {
  if (!workspace_asked_) {
    workspace_asked_ = true;
    if (memory_.cap_bytes - memory_.used_bytes >= kWorkspaceBytes)
      workspace_ = {allocate(kWorkspaceBytes), kWorkspaceBytes};
  }
  return workspace_;
}

bool CudaDevice::multiply(const Product& product, const void* a, const void* b, const void* bias, void* y) {
  if (product.m == 0 || product.n == 0 || product.batch == 0) return true;
  if (!products_) products_.emplace();
  const std::int64_t rows = product.m * product.batch;
  if (product.k > 0) {
    if (products_->run(stream_, product, a, b, bias, y, workspace())) return true;
    if (!product.has_bias) return false;
    Product plain = product;
    plain.has_bias = false;
    if (!products_->run(stream_, plain, a, b, nullptr, y, workspace())) return false;
  } else {
    clear(y, static_cast<std::size_t>(rows * product.n) * size_of(product.dtype));
    if (!product.has_bias) return true;
  }
  const Walk<2> walk = make_walk<2>(Numbers{rows, product.n}, {Numbers{product.n, 1}, Numbers{0, 1}});
  return binary(stream_, product.dtype, BinaryKind::add, y, bias, y, walk);
}

int CudaDevice::place_of(const std::string& path) {
  may_have_fault_ = true;
  return places_.emplace(path, static_cast<int>(places_.size())).first->second;
}

void CudaDevice::throw_fault() {
  may_have_fault_ = false;
  Fault fault;
  check(cudaMemcpyAsync(&fault, fault_, sizeof fault, cudaMemcpyDeviceToHost, stream_), name());
  check(cudaStreamSynchronize(stream_), name());
  if (fault.happened == 0) return;
  clear(fault_, sizeof(Fault));
  std::string where;
  for (const auto& [path, place] : places_)
    if (place == fault.place && !path.empty()) where = escaped(path) + ": ";
  throw Error(ErrorKind::usage, where + "Gather: index " + std::to_string(fault.index) + " is outside [0, " +
                                    std::to_string(fault.size) + ")");
}

}  // namespace hf::runtime::cuda
