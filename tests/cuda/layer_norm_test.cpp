#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

std::vector<double> by_definition(std::vector<double> x, const std::vector<double>& weight,
                                  const std::vector<double>& bias, double epsilon) {
  const std::size_t n = weight.size();
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) mean += x[row + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      x[row + i] = (x[row + i] - mean) / std::sqrt(variance + epsilon) * weight[i] + bias[i];
  }
  return x;
}

}  // namespace

TEST_CASE("layer norm is its definition for rows of any length, in every float type") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    for (const std::int64_t columns : {1, 31, 48, 257, 1000}) {
      const std::int64_t rows = 3;
      const auto x = stored<T>(numbers(rows * columns)), weight = stored<T>(numbers(columns, 0.5f, 2, 2)),
                 bias = stored<T>(numbers(columns, -1, 1, 3));
      std::vector<T> y(x.size());
      REQUIRE(layer_norm(nullptr, kDType<T>, x.data(), weight.data(), bias.data(), y.data(), rows, columns,
                         1e-5f));
      const auto wanted = by_definition(read(x), read(weight), read(bias), 1e-5f);
      CHECK(difference(read(y), wanted, 2 * tolerance<T>()) == "");
    }
  });
}

TEST_CASE("a large mean does not swamp a small variance") {
  auto x = numbers(400, -1, 1);
  for (float& v : x) v += 1000;
  const std::vector<float> weight(400, 1), bias(400, 0);
  std::vector<float> y(400);
  REQUIRE(layer_norm(nullptr, DType::f32, x.data(), weight.data(), bias.data(), y.data(), 1, 400, 1e-12f));
  CHECK(difference(read(y), by_definition(read(x), read(weight), read(bias), 1e-12), 1e-3) == "");
}

TEST_CASE("a constant row becomes the bias, and no rows start nothing") {
  const std::vector<float> x(40, 7), weight(40, 2), bias(40, 0.25f);
  std::vector<float> y(40);
  REQUIRE(layer_norm(nullptr, DType::f32, x.data(), weight.data(), bias.data(), y.data(), 1, 40, 1e-5f));
  CHECK(y == bias);
  CHECK(layer_norm(nullptr, DType::f32, nullptr, nullptr, nullptr, nullptr, 0, 40, 1e-5f));
}
