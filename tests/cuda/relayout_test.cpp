#include <doctest/doctest.h>

#include <numeric>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;

namespace {

template <class T>
void check_transpose() {
  std::vector<T> x(5 * 7 * 3), y(x.size());
  std::iota(x.begin(), x.end(), T(0));
  // [5, 7, 3] to [3, 5, 7]
  REQUIRE(relayout(nullptr, sizeof(T), x.data(), y.data(),
                   make_walk<2>(Numbers{3, 5, 7}, {Numbers{1, 21, 3}, Numbers{35, 7, 1}})));
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j)
      for (std::size_t k = 0; k < 3; ++k) REQUIRE(y[k * 35 + i * 7 + j] == x[i * 21 + j * 3 + k]);
}

}  // namespace

TEST_CASE("a transpose moves elements of every size") {
  check_transpose<std::uint8_t>();
  check_transpose<std::uint16_t>();
  check_transpose<float>();
  check_transpose<std::int64_t>();
  CHECK_FALSE(relayout(nullptr, 3, nullptr, nullptr, {}));
}

TEST_CASE("a stride of zero repeats and a gap in the target stays untouched") {
  const std::vector<float> x{1, 2, 3};
  std::vector<float> y(12, -1);
  REQUIRE(
      relayout(nullptr, 4, x.data(), y.data(), make_walk<2>(Numbers{2, 3}, {Numbers{0, 1}, Numbers{6, 1}})));
  CHECK(y == std::vector<float>{1, 2, 3, -1, -1, -1, 1, 2, 3, -1, -1, -1});
}
