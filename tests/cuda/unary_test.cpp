#include <doctest/doctest.h>

#include <limits>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

struct Case {
  UnaryKind kind;
  double (*definition)(double);
  float low = -3, high = 3;
};
const Case kCases[] = {
    {UnaryKind::negate, [](double x) { return -x; }},
    {UnaryKind::absolute, [](double x) { return std::abs(x); }},
    {UnaryKind::exp, [](double x) { return std::exp(x); }},
    {UnaryKind::log, [](double x) { return std::log(x); }, 0.1f, 9},
    {UnaryKind::sqrt, [](double x) { return std::sqrt(x); }, 0, 9},
    {UnaryKind::reciprocal, [](double x) { return 1 / x; }, 0.1f, 9},
    {UnaryKind::erf, [](double x) { return std::erf(x); }},
    {UnaryKind::tanh, [](double x) { return std::tanh(x); }},
    {UnaryKind::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {UnaryKind::relu, [](double x) { return std::max(0.0, x); }},
    {UnaryKind::sin, [](double x) { return std::sin(x); }},
    {UnaryKind::cos, [](double x) { return std::cos(x); }},
};

}  // namespace

TEST_CASE("each unary function is what its name says, in every float type") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    for (const Case& c : kCases) {
      const auto x = stored<T>(numbers(517, c.low, c.high));
      std::vector<T> y(x.size());
      REQUIRE(unary(nullptr, kDType<T>, c.kind, x.data(), y.data(), 517));
      std::vector<double> wanted = read(x);
      for (double& v : wanted) v = c.definition(v);
      CHECK(difference(read(y), wanted, tolerance<T>()) == "");
    }
  });
}

TEST_CASE("integers are negated and made absolute") {
  const std::vector<std::int64_t> x{-5, 0, 7};
  std::vector<std::int64_t> y(3);
  REQUIRE(unary(nullptr, DType::i64, UnaryKind::negate, x.data(), y.data(), 3));
  CHECK(y == std::vector<std::int64_t>{5, 0, -7});
  REQUIRE(unary(nullptr, DType::i64, UnaryKind::absolute, x.data(), y.data(), 3));
  CHECK(y == std::vector<std::int64_t>{5, 0, 7});
  CHECK_FALSE(unary(nullptr, DType::i64, UnaryKind::exp, x.data(), y.data(), 3));
}

TEST_CASE("logical_not turns truth values and nothing else") {
  const std::vector<std::uint8_t> x{0, 1, 7};
  std::vector<std::uint8_t> y(3);
  REQUIRE(unary(nullptr, DType::boolean, UnaryKind::logical_not, x.data(), y.data(), 3));
  CHECK(y == std::vector<std::uint8_t>{1, 0, 0});
  CHECK_FALSE(unary(nullptr, DType::f32, UnaryKind::logical_not, x.data(), y.data(), 0));
  CHECK_FALSE(unary(nullptr, DType::boolean, UnaryKind::negate, x.data(), y.data(), 3));
}

TEST_CASE("relu keeps a NaN and nothing is started for nothing") {
  const float x = std::numeric_limits<float>::quiet_NaN();
  float y = 0;
  REQUIRE(unary(nullptr, DType::f32, UnaryKind::relu, &x, &y, 1));
  CHECK(std::isnan(y));
  CHECK(unary(nullptr, DType::f32, UnaryKind::relu, nullptr, nullptr, 0));
}
