// How many threads a kernel is started with.
#pragma once
#include <cstddef>

namespace hf::runtime::cuda {

struct Geometry {
  unsigned blocks = 0;
  unsigned threads = 0;  // a block; a multiple of 32 where the kernel shuffles
  std::size_t shared_bytes = 0;
};

}  // namespace hf::runtime::cuda
