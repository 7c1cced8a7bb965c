#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

template <class T>
std::vector<double> by_definition(const std::vector<T>& x, const Lines& lines) {
  auto y = read(x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto inner = static_cast<std::size_t>(lines.inner), length = static_cast<std::size_t>(lines.length);
    if (i / inner % length > 0) y[i] += y[i - inner];
  }
  return y;
}

}  // namespace

TEST_CASE("running sums of lines of any length along any axis, in every float type") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    for (const Lines lines : {Lines{3, 1, 1}, Lines{2, 33, 1}, Lines{2, 700, 1}, Lines{2, 70, 3}}) {
      const auto x = stored<T>(numbers(lines.outer * lines.length * lines.inner, -1, 1));
      std::vector<T> y(x.size());
      REQUIRE(cumsum(nullptr, kDType<T>, x.data(), y.data(), lines));
      CHECK(difference(read(y), by_definition(x, lines), 20 * tolerance<T>()) == "");
    }
  });
}

TEST_CASE("running sums of integers are exact, in place as well") {
  std::vector<std::int64_t> x(600, 1), wanted(600);
  for (std::size_t i = 0; i < 600; ++i) wanted[i] = static_cast<std::int64_t>(i) + 1;
  REQUIRE(cumsum(nullptr, DType::i64, x.data(), x.data(), {1, 600, 1}));
  CHECK(x == wanted);
  CHECK_FALSE(cumsum(nullptr, DType::boolean, nullptr, nullptr, {1, 0, 1}));
}
