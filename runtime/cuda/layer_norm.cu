#include "runtime/cuda/layer_norm.cuh"

namespace hf::runtime::cuda {

bool layer_norm(Stream stream, DType dtype, const void* x, const void* weight, const void* bias, void* y,
                std::int64_t rows, std::int64_t columns, float epsilon) {
  return with_element(Floats{}, dtype, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_layer_norm(stream, static_cast<const T*>(x), static_cast<const T*>(weight),
                      static_cast<const T*>(bias), static_cast<T*>(y), rows, columns, epsilon);
  });
}

}  // namespace hf::runtime::cuda
