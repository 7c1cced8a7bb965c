#include "runtime/cuda/softmax.cuh"

namespace hf::runtime::cuda {

bool softmax(Stream stream, DType dtype, const void* x, void* y, const Lines& lines) {
  return with_element(Floats{}, dtype, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_softmax(stream, static_cast<const T*>(x), static_cast<T*>(y), lines);
  });
}

}  // namespace hf::runtime::cuda
