#include "runtime/cuda/softmax.cuh"

#include <doctest/doctest.h>

#include <limits>

#include "cuda/arrays.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

std::vector<double> by_definition(std::vector<double> x, const Lines& lines) {
  for (std::int64_t o = 0; o < lines.outer; ++o)
    for (std::int64_t k = 0; k < lines.inner; ++k) {
      const auto at = [&](std::int64_t i) -> double& {
        return x[static_cast<std::size_t>((o * lines.length + i) * lines.inner + k)];
      };
      double greatest = at(0), sum = 0;
      for (std::int64_t i = 1; i < lines.length; ++i) greatest = std::max(greatest, at(i));
      for (std::int64_t i = 0; i < lines.length; ++i) sum += at(i) = std::exp(at(i) - greatest);
      for (std::int64_t i = 0; i < lines.length; ++i) at(i) /= sum;
    }
  return x;
}

}  // namespace

TEST_CASE("softmax is its definition for short, odd and long lines along any axis, in every float type") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    for (const Lines lines :
         {Lines{3, 1, 1}, Lines{5, 33, 1}, Lines{2, 700, 1}, Lines{2, 31, 5}, Lines{1, 257, 3}}) {
      const auto x = stored<T>(numbers(lines.outer * lines.length * lines.inner, -9, 9));
      std::vector<T> y(x.size());
      REQUIRE(softmax(nullptr, kDType<T>, x.data(), y.data(), lines));
      CHECK(difference(read(y), by_definition(read(x), lines), tolerance<T>()) == "");
    }
  });
}

TEST_CASE("softmax may write where it read") {
  auto x = numbers(600);
  const auto wanted = by_definition(read(x), {2, 300, 1});
  REQUIRE(softmax(nullptr, DType::f32, x.data(), x.data(), {2, 300, 1}));
  CHECK(difference(read(x), wanted, 2e-6) == "");
}

TEST_CASE(
    "a line of lowest values is uniform, one of large values does not overflow, infinities count as zero") {
  const float lowest = std::numeric_limits<float>::lowest(),
              infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{lowest, lowest, 1e30f, 1e30f, -infinity, 5};
  std::vector<float> y(6);
  REQUIRE(softmax(nullptr, DType::f32, x.data(), y.data(), {3, 2, 1}));
  CHECK(y == std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f, 0, 1});
}

TEST_CASE("more lines than a grid has blocks are all done") {
  const auto x = numbers(7 * 40);
  std::vector<float> y(x.size());
  launch({2, 64}, nullptr, softmax_kernel<float>, x.data(), y.data(), Lines{7, 40, 1});
  CHECK(difference(read(y), by_definition(read(x), {7, 40, 1}), 2e-6) == "");
}

TEST_CASE("softmax over nothing starts nothing, and integers have no kernel") {
  CHECK(softmax(nullptr, DType::f32, nullptr, nullptr, {0, 5, 1}));
  CHECK(softmax(nullptr, DType::f32, nullptr, nullptr, {5, 0, 1}));
  CHECK_FALSE(softmax(nullptr, DType::i64, nullptr, nullptr, {0, 5, 1}));
}
