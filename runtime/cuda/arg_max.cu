#include "runtime/cuda/arg_max.cuh"

namespace hf::runtime::cuda {

bool arg_max(Stream stream, DType dtype, const void* x, std::int64_t* y, const Lines& lines) {
  return with_element(Numeric{}, dtype, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_arg_max(stream, static_cast<const T*>(x), y, lines);
  });
}

}  // namespace hf::runtime::cuda
