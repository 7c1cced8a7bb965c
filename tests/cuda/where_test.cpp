#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;

namespace {

template <class T>
void check_where() {
  const Numbers shape{3, 4, 5};
  const std::vector<std::uint8_t> condition{1, 0, 2, 0, 1};
  std::vector<T> then(12), otherwise(1, T(99)), y(60);
  for (std::size_t i = 0; i < 12; ++i) then[i] = static_cast<T>(i);
  const Walk<3> walk =
      make_walk<3>(shape, {broadcast_strides(Numbers{5}, shape), broadcast_strides(Numbers{3, 4, 1}, shape),
                           broadcast_strides(Numbers{}, shape)});
  REQUIRE(where(nullptr, sizeof(T), condition.data(), then.data(), otherwise.data(), y.data(), walk));
  for (std::size_t i = 0; i < 60; ++i) REQUIRE(y[i] == (condition[i % 5] != 0 ? then[i / 5] : T(99)));
}

}  // namespace

TEST_CASE("where chooses element by element, for elements of every size") {
  check_where<std::uint8_t>();
  check_where<std::uint16_t>();
  check_where<float>();
  check_where<std::int64_t>();
  CHECK_FALSE(where(nullptr, 16, nullptr, nullptr, nullptr, nullptr, {}));
}
