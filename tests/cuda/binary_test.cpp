#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

struct Case {
  BinaryKind kind;
  double (*definition)(double, double);
};
const Case kCases[] = {
    {BinaryKind::add, [](double a, double b) { return a + b; }},
    {BinaryKind::subtract, [](double a, double b) { return a - b; }},
    {BinaryKind::multiply, [](double a, double b) { return a * b; }},
    {BinaryKind::divide, [](double a, double b) { return a / b; }},
    {BinaryKind::power, [](double a, double b) { return std::pow(a, b); }},
    {BinaryKind::minimum, [](double a, double b) { return std::min(a, b); }},
    {BinaryKind::maximum, [](double a, double b) { return std::max(a, b); }},
};

Walk<2> walk_of(const Numbers& a, const Numbers& b, const Numbers& y) {
  return make_walk<2>(y, {broadcast_strides(a, y), broadcast_strides(b, y)});
}

template <class T>
std::vector<T> computed(DType dtype, BinaryKind kind, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> y(a.size());
  const Numbers shape{static_cast<std::int64_t>(a.size())};
  REQUIRE(binary(nullptr, dtype, kind, a.data(), b.data(), y.data(), walk_of(shape, shape, shape)));
  return y;
}

}  // namespace

TEST_CASE("each binary function is what its name says, in every float type, with broadcasting") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    const auto a = stored<T>(numbers(5 * 7, 0.5f, 3)), b = stored<T>(numbers(3 * 7, 0.5f, 3, 2));
    std::vector<T> y(3 * 5 * 7);
    for (const Case& c : kCases) {
      REQUIRE(binary(nullptr, kDType<T>, c.kind, a.data(), b.data(), y.data(),
                     walk_of({5, 7}, {3, 1, 7}, {3, 5, 7})));
      const auto x1 = read(a), x2 = read(b);
      std::vector<double> wanted;
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 35; ++j) wanted.push_back(c.definition(x1[j], x2[i * 7 + j % 7]));
      CHECK(difference(read(y), wanted, 2 * tolerance<T>()) == "");
    }
  });
}

TEST_CASE("a scalar is stretched over everything") {
  const auto a = numbers(1000);
  const float two = 2;
  std::vector<float> y(1000);
  REQUIRE(binary(nullptr, DType::f32, BinaryKind::multiply, a.data(), &two, y.data(),
                 walk_of({10, 100}, {}, {10, 100})));
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(y[i] == 2 * a[i]);
}

TEST_CASE("integers divide towards zero and raise to powers") {
  using Integers = std::vector<std::int64_t>;
  CHECK(computed(DType::i64, BinaryKind::divide, Integers{7, -7, 7, -7}, Integers{2, 2, -2, -1}) ==
        Integers{3, -3, -3, 7});
  CHECK(computed(DType::i64, BinaryKind::power, Integers{3, -2, 2, -1, 0}, Integers{4, 3, -1, -3, 0}) ==
        Integers{81, -8, 0, -1, 1});
  CHECK(computed(DType::i32, BinaryKind::maximum, std::vector<std::int32_t>{1, -5},
                 std::vector<std::int32_t>{0, 3}) == std::vector<std::int32_t>{1, 3});
}

TEST_CASE("an integer divided by zero is zero, and the lowest by minus one wraps") {
  using Integers = std::vector<std::int64_t>;
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  CHECK(computed(DType::i64, BinaryKind::divide, Integers{5, lowest}, Integers{0, -1}) ==
        Integers{0, lowest});
}

TEST_CASE("minimum and maximum give NaN where one side is NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const BinaryKind kind : {BinaryKind::minimum, BinaryKind::maximum}) {
    const auto y = computed<float>(DType::f32, kind, {nan, 1}, {1, nan});
    CHECK(std::isnan(y[0]));
    CHECK(std::isnan(y[1]));
  }
}

TEST_CASE("logical functions take truth values and nothing else does") {
  using Bytes = std::vector<std::uint8_t>;
  CHECK(computed(DType::boolean, BinaryKind::logical_and, Bytes{0, 1, 2, 0}, Bytes{0, 0, 1, 1}) ==
        Bytes{0, 0, 1, 0});
  CHECK(computed(DType::boolean, BinaryKind::logical_or, Bytes{0, 1, 2, 0}, Bytes{0, 0, 1, 1}) ==
        Bytes{0, 1, 1, 1});
  CHECK_FALSE(binary(nullptr, DType::boolean, BinaryKind::add, nullptr, nullptr, nullptr, {}));
  CHECK_FALSE(binary(nullptr, DType::f32, BinaryKind::logical_or, nullptr, nullptr, nullptr, {}));
  CHECK_FALSE(binary(nullptr, DType::f64, BinaryKind::add, nullptr, nullptr, nullptr, {}));
}

TEST_CASE("a binary function over nothing starts nothing") {
  CHECK(
      binary(nullptr, DType::f32, BinaryKind::add, nullptr, nullptr, nullptr, walk_of({0, 3}, {3}, {0, 3})));
}
