#include "runtime/cuda/gelu.cuh"

namespace hf::runtime::cuda {

bool gelu(Stream stream, DType dtype, GeluKind kind, const void* x, void* y, std::int64_t count) {
  return with_element(Floats{}, dtype, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_gelu(stream, kind, static_cast<const T*>(x), static_cast<T*>(y), count);
  });
}

}  // namespace hf::runtime::cuda
