#include "runtime/cuda/binary.cuh"

namespace hf::runtime::cuda {

bool binary(Stream stream, DType dtype, BinaryKind kind, const void* a, const void* b, void* y,
            const Walk<2>& walk) {
  const auto start = [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_binary(stream, kind, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(y), walk);
  };
  const bool logical = kind == BinaryKind::logical_and || kind == BinaryKind::logical_or;
  return logical ? with_element(Types<Truth>{}, dtype, start) : with_element(Numeric{}, dtype, start);
}

}  // namespace hf::runtime::cuda
