// CUDA in a build without it.
#include "base/error.h"
#include "runtime/cuda/cuda.h"

namespace hf::runtime {

int cuda_devices() { return 0; }

std::unique_ptr<Device> open_cuda(int index, const DeviceOptions&) {
  throw Error(ErrorKind::unsupported,
              "cuda:" + std::to_string(index) +
                  ": built without CUDA, expected a build with -DHF_CUDA=ON or --device cpu");
}

}  // namespace hf::runtime
