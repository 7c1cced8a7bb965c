#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

struct Case {
  CompareKind kind;
  bool (*definition)(double, double);
};
const Case kCases[] = {
    {CompareKind::equal, [](double a, double b) { return a == b; }},
    {CompareKind::less, [](double a, double b) { return a < b; }},
    {CompareKind::less_or_equal, [](double a, double b) { return a <= b; }},
    {CompareKind::greater, [](double a, double b) { return a > b; }},
    {CompareKind::greater_or_equal, [](double a, double b) { return a >= b; }},
};

template <class T>
void check_all(const std::vector<T>& a, const std::vector<T>& b) {
  const Numbers x1{static_cast<std::int64_t>(a.size())}, x2{static_cast<std::int64_t>(b.size()), 1};
  const Numbers shape{x2[0], x1[0]};
  std::vector<std::uint8_t> y(a.size() * b.size());
  for (const Case& c : kCases) {
    REQUIRE(compare(nullptr, kDType<T>, c.kind, a.data(), b.data(), y.data(),
                    make_walk<2>(shape, {broadcast_strides(x1, shape), broadcast_strides(x2, shape)})));
    for (std::size_t i = 0; i < y.size(); ++i)
      REQUIRE(y[i] == c.definition(static_cast<double>(widened(a[i % a.size()])),
                                   static_cast<double>(widened(b[i / a.size()]))));
  }
}

}  // namespace

TEST_CASE("comparisons of every number type, broadcast against each other") {
  const std::vector<float> a{-1, 0, 0.5f, 2, std::numeric_limits<float>::quiet_NaN()}, b{0, 2, 0.5f};
  for_float_types([&](auto element) {
    using T = typename decltype(element)::Type;
    check_all(stored<T>(a), stored<T>(b));
  });
  check_all<std::int64_t>({-1, 0, 1, std::int64_t{1} << 40}, {0, 1});
  check_all<std::int32_t>({-1, 0, 1}, {0, 1, 5});
  check_all<Truth>({{0}, {1}, {2}}, {{1}, {0}});
}

TEST_CASE("a comparison has no kernel for fp64") {
  CHECK_FALSE(compare(nullptr, DType::f64, CompareKind::less, nullptr, nullptr, nullptr, {}));
}
