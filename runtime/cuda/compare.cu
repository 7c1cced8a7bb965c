#include "runtime/cuda/compare.cuh"

namespace hf::runtime::cuda {

bool compare(Stream stream, DType dtype, CompareKind kind, const void* a, const void* b, void* truth,
             const Walk<2>& walk) {
  using Comparable = Types<float, Half, Brain, std::int64_t, std::int32_t, Truth>;
  return with_element(Comparable{}, dtype, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_compare(stream, kind, static_cast<const T*>(a), static_cast<const T*>(b),
                   static_cast<Truth*>(truth), walk);
  });
}

}  // namespace hf::runtime::cuda
