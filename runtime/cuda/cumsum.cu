#include "runtime/cuda/cumsum.cuh"

namespace hf::runtime::cuda {

bool cumsum(Stream stream, DType dtype, const void* x, void* y, const Lines& lines) {
  return with_element(Numeric{}, dtype, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_cumsum(stream, static_cast<const T*>(x), static_cast<T*>(y), lines);
  });
}

}  // namespace hf::runtime::cuda
