#include "base/error.h"
#include "runtime/cuda/cuda.h"

namespace hf::runtime {

std::unique_ptr<Device> open_cuda(int, const DeviceOptions&) {
  throw Error(ErrorKind::unsupported, "device cuda: this program was built without CUDA");
}

}  // namespace hf::runtime
