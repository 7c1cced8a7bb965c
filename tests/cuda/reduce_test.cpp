#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

// Over axes 0 and 2 of [a, b, c, d].
struct Shape4 {
  std::int64_t a, b, c, d;
  Walk<1> kept() const { return make_walk<1>(Numbers{b, d}, {Numbers{c * d, 1}}); }
  Walk<1> reduced() const { return make_walk<1>(Numbers{a, c}, {Numbers{b * c * d, d}}); }
};

template <class F>
std::vector<double> by_definition(const std::vector<double>& x, const Shape4& s, double first, F&& combine) {
  std::vector<double> y(static_cast<std::size_t>(s.b * s.d), first);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    double& to = y[static_cast<std::size_t>(i / (s.d * s.c) % s.b * s.d + i % s.d)];
    to = combine(to, x[static_cast<std::size_t>(i)]);
  }
  return y;
}

}  // namespace

TEST_CASE("sum, mean, greatest and least over scattered axes, in every float type") {
  const Shape4 s{3, 2, 101, 5};
  const double count = static_cast<double>(s.a * s.c);
  for_float_types([&](auto element) {
    using T = typename decltype(element)::Type;
    const auto x = stored<T>(numbers(s.a * s.b * s.c * s.d, -1, 1));
    std::vector<T> y(static_cast<std::size_t>(s.b * s.d));
    const auto check = [&](ReduceKind kind, const std::vector<double>& wanted) {
      REQUIRE(reduce(nullptr, kDType<T>, kind, x.data(), y.data(), s.kept(), s.reduced()));
      CHECK(difference(read(y), wanted, 4 * tolerance<T>()) == "");
    };
    const auto sum = by_definition(read(x), s, 0, [](double a, double b) { return a + b; });
    check(ReduceKind::sum, sum);
    auto mean = sum;
    for (double& v : mean) v /= count;
    check(ReduceKind::mean, mean);
    check(ReduceKind::maximum,
          by_definition(read(x), s, -9, [](double a, double b) { return std::max(a, b); }));
    check(ReduceKind::minimum,
          by_definition(read(x), s, 9, [](double a, double b) { return std::min(a, b); }));
  });
}

TEST_CASE("integers are summed and compared exactly") {
  const Shape4 s{2, 1, 50, 1};
  std::vector<std::int64_t> x(100);
  for (std::size_t i = 0; i < 100; ++i) x[i] = (std::int64_t{1} << 53) + static_cast<std::int64_t>(i);
  std::int64_t y = 0;
  REQUIRE(reduce(nullptr, DType::i64, ReduceKind::sum, x.data(), &y, s.kept(), s.reduced()));
  CHECK(y == 100 * (std::int64_t{1} << 53) + 4950);
  REQUIRE(reduce(nullptr, DType::i64, ReduceKind::maximum, x.data(), &y, s.kept(), s.reduced()));
  CHECK(y == (std::int64_t{1} << 53) + 99);
  CHECK_FALSE(reduce(nullptr, DType::i64, ReduceKind::mean, x.data(), &y, s.kept(), s.reduced()));
}

TEST_CASE("the greatest of lowest values is the lowest, and a NaN wins") {
  const Walk<1> kept = make_walk<1>(Numbers{}, {Numbers{}}), reduced = make_walk<1>(Numbers{3}, {Numbers{1}});
  float y = 0;
  std::vector<float> x(3, std::numeric_limits<float>::lowest());
  REQUIRE(reduce(nullptr, DType::f32, ReduceKind::maximum, x.data(), &y, kept, reduced));
  CHECK(y == std::numeric_limits<float>::lowest());
  x[1] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(reduce(nullptr, DType::f32, ReduceKind::minimum, x.data(), &y, kept, reduced));
  CHECK(std::isnan(y));
}

TEST_CASE("the sum over no elements is zero") {
  float y = 5;
  REQUIRE(reduce(nullptr, DType::f32, ReduceKind::sum, nullptr, &y, make_walk<1>(Numbers{}, {Numbers{}}),
                 make_walk<1>(Numbers{0}, {Numbers{1}})));
  CHECK(y == 0);
}
