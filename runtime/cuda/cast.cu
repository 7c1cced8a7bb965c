#include "runtime/cuda/cast.cuh"

namespace hf::runtime::cuda {

bool cast(Stream stream, DType from, DType to, const void* x, void* y, std::int64_t count) {
  using All = Types<double, float, Half, Brain, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
                    std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t, Truth>;
  return with_element(All{}, from, [&](auto element) {
    using T = typename decltype(element)::Type;
    launch_cast(stream, static_cast<const T*>(x), to, y, count);
  });
}

}  // namespace hf::runtime::cuda
