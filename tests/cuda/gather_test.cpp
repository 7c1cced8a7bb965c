#include <doctest/doctest.h>

#include <numeric>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;

TEST_CASE("slices are looked up along the middle axis, for elements of every size") {
  const std::vector<std::int64_t> indices{4, 0, 4, 2};
  Fault fault;
  const auto check = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> x(2 * 5 * 3), y(2 * 4 * 3);
    std::iota(x.begin(), x.end(), T(0));
    REQUIRE(gather(nullptr, sizeof(T), x.data(), indices.data(), y.data(), {2, 5, 3, 4}, &fault, 0));
    for (std::size_t o = 0; o < 2; ++o)
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 3; ++k)
          REQUIRE(y[(o * 4 + i) * 3 + k] == x[(o * 5 + static_cast<std::size_t>(indices[i])) * 3 + k]);
  };
  check(std::uint8_t{});
  check(std::uint16_t{});
  check(float{});
  check(std::int64_t{});
  CHECK(fault.happened == 0);
}

TEST_CASE("an index outside the axis gives zeros and is reported once") {
  const std::vector<float> x{1, 2, 3, 4};
  const std::vector<std::int64_t> indices{1, -1, 2, std::int64_t{1} << 60};
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    emulator::seed(seed);
    std::vector<float> y(8, -1);
    Fault fault;
    REQUIRE(gather(nullptr, 4, x.data(), indices.data(), y.data(), {1, 2, 2, 4}, &fault, 7));
    CHECK(y == std::vector<float>{3, 4, 0, 0, 0, 0, 0, 0});
    CHECK(fault.happened == 1);
    CHECK(fault.place == 7);
    CHECK(fault.size == 2);
    CHECK(std::count(indices.begin() + 1, indices.end(), fault.index) == 1);
  }
}

TEST_CASE("no indices look up nothing, and an empty table has no index") {
  Fault fault;
  CHECK(gather(nullptr, 4, nullptr, nullptr, nullptr, {3, 5, 2, 0}, &fault, 0));
  const std::int64_t index = 0;
  float y = 1;
  CHECK(gather(nullptr, 4, nullptr, &index, &y, {1, 0, 1, 1}, &fault, 0));
  CHECK(fault.happened == 1);
  CHECK(y == 0);
}
