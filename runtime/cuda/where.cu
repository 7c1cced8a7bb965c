#include "runtime/cuda/where.cuh"

namespace hf::runtime::cuda {

bool where(Stream stream, std::size_t element_bytes, const void* condition, const void* then,
           const void* otherwise, void* y, const Walk<3>& walk) {
  return with_bytes(element_bytes, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_where(stream, static_cast<const Truth*>(condition), static_cast<const T*>(then),
                 static_cast<const T*>(otherwise), static_cast<T*>(y), walk);
  });
}

}  // namespace hf::runtime::cuda
