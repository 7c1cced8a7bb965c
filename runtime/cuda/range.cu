#include "runtime/cuda/range.cuh"

namespace hf::runtime::cuda {

void range(Stream stream, std::int64_t begin, std::int64_t* y, std::int64_t count) {
  launch_range(stream, begin, y, count);
}

}  // namespace hf::runtime::cuda
