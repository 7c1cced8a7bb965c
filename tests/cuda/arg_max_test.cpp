#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

namespace {

template <class T>
std::vector<std::int64_t> computed(const std::vector<T>& x, const Lines& lines) {
  std::vector<std::int64_t> y(static_cast<std::size_t>(lines.outer * lines.inner), -1);
  REQUIRE(arg_max(nullptr, kDType<T>, x.data(), y.data(), lines));
  return y;
}

}  // namespace

TEST_CASE("the first greatest is found in lines of any length along any axis, in every float type") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    for (const Lines lines : {Lines{3, 1, 1}, Lines{4, 700, 1}, Lines{2, 45, 7}}) {
      auto values = numbers(lines.outer * lines.length * lines.inner);
      for (float& v : values) v = std::round(v * 4);  // many equals
      const auto x = read(stored<T>(values));
      std::vector<std::int64_t> wanted;
      for (std::int64_t line = 0; line < lines.outer * lines.inner; ++line) {
        const std::int64_t start = line / lines.inner * lines.length * lines.inner + line % lines.inner;
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < lines.length; ++i)
          if (x[static_cast<std::size_t>(start + i * lines.inner)] >
              x[static_cast<std::size_t>(start + best * lines.inner)])
            best = i;
        wanted.push_back(best);
      }
      CHECK(computed(stored<T>(values), lines) == wanted);
    }
  });
}

TEST_CASE("all equal gives the first, a NaN is the greatest, infinities count") {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(computed<float>(std::vector<float>(300, -infinity), {1, 300, 1}) == std::vector<std::int64_t>{0});
  CHECK(computed<float>({1, nan, 9, nan}, {1, 4, 1}) == std::vector<std::int64_t>{1});
  CHECK(computed<std::int64_t>({5, 5, -1}, {1, 3, 1}) == std::vector<std::int64_t>{0});
}
