#include "runtime/cuda/relayout.cuh"

namespace hf::runtime::cuda {

bool relayout(Stream stream, std::size_t element_bytes, const void* x, void* y, const Walk<2>& walk) {
  return with_bytes(element_bytes, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_relayout(stream, static_cast<const T*>(x), static_cast<T*>(y), walk);
  });
}

}  // namespace hf::runtime::cuda
