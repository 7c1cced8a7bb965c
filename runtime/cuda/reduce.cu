#include <limits>

#include "runtime/cuda/reduce.cuh"

namespace hf::runtime::cuda {
namespace {

template <class V>
constexpr V lowest() {
  if constexpr (std::numeric_limits<V>::has_infinity) return -std::numeric_limits<V>::infinity();
  return std::numeric_limits<V>::lowest();
}
template <class V>
constexpr V highest() {
  if constexpr (std::numeric_limits<V>::has_infinity) return std::numeric_limits<V>::infinity();
  return std::numeric_limits<V>::max();
}

}  // namespace

bool reduce(Stream stream, DType dtype, ReduceKind kind, const void* x, void* y, const Walk<1>& kept,
            const Walk<1>& reduced) {
  const auto start = [&](auto element) {
    using T = typename decltype(element)::Type;
    using V = Wide<T>;
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    switch (kind) {
      case ReduceKind::sum:
      case ReduceKind::mean:
        return launch_reduce<T, Sum>(stream, from, to, kept, reduced, V(0), kind == ReduceKind::mean);
      case ReduceKind::maximum:
        return launch_reduce<T, Greatest>(stream, from, to, kept, reduced, lowest<V>(), false);
      case ReduceKind::minimum:
        return launch_reduce<T, Least>(stream, from, to, kept, reduced, highest<V>(), false);
    }
  };
  if (kind == ReduceKind::mean) return with_element(Floats{}, dtype, start);
  return with_element(Numeric{}, dtype, start);
}

}  // namespace hf::runtime::cuda
