#include "runtime/cuda/unary.cuh"

namespace hf::runtime::cuda {

bool unary(Stream stream, DType dtype, UnaryKind kind, const void* x, void* y, std::int64_t count) {
  const auto start = [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_unary(stream, kind, static_cast<const T*>(x), static_cast<T*>(y), count);
  };
  if (kind == UnaryKind::logical_not) return with_element(Types<Truth>{}, dtype, start);
  const bool integral = kind == UnaryKind::negate || kind == UnaryKind::absolute || kind == UnaryKind::relu;
  return with_element(Floats{}, dtype, start) ||
         (integral && with_element(Types<std::int64_t, std::int32_t>{}, dtype, start));
}

}  // namespace hf::runtime::cuda
