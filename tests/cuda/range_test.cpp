#include <doctest/doctest.h>

#include "emulator/cuda_emulator.h"
#include "runtime/cuda/kernels.h"

using namespace hf::runtime::cuda;

TEST_CASE("a range counts up from its beginning") {
  std::vector<std::int64_t> y(1000, 0);
  range(nullptr, -3, y.data(), 1000);
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(y[i] == static_cast<std::int64_t>(i) - 3);
  range(nullptr, 5, nullptr, 0);
}
