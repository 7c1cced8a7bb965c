// Opening a GPU, and saying what lacks where that fails.
#include <cuda_runtime_api.h>

#include "base/error.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/cuda_device.h"

namespace hf::runtime {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Why there is no GPU to count. `status` is what counting them said.
std::string lack(cudaError_t status) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 without a driver
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0)
    return "no CUDA driver was found, expected one for CUDA " + version_text(runtime) + " or newer";
  if (status == cudaErrorInsufficientDriver)
    return "the CUDA driver serves CUDA " + version_text(driver) + ", expected " + version_text(runtime) +
           " or newer";
  if (status == cudaErrorNoDevice || status == cudaSuccess)
    return "no NVIDIA GPU was found, expected at least one";
  return cudaGetErrorString(status);
}

}  // namespace

int cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options) {
  const std::string subject = "cuda:" + std::to_string(index) + ": ";
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    throw Error(ErrorKind::unsupported, subject + lack(status));
  }
  if (index < 0 || index >= count)
    throw Error(ErrorKind::unsupported,
                subject + "no such GPU, expected a number below " + std::to_string(count));
  return std::make_unique<cuda::CudaDevice>(index, options);
}

}  // namespace hf::runtime
