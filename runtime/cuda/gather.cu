#include "runtime/cuda/gather.cuh"

namespace hf::runtime::cuda {

bool gather(Stream stream, std::size_t element_bytes, const void* x, const std::int64_t* indices, void* y,
            const GatherSizes& sizes, Fault* fault, int place) {
  return with_bytes(element_bytes, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_gather(stream, static_cast<const T*>(x), indices, static_cast<T*>(y), sizes, fault, place);
  });
}

}  // namespace hf::runtime::cuda
