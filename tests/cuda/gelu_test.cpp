#include <doctest/doctest.h>

#include "cuda/arrays.h"
#include "runtime/cuda/kernels.h"

using namespace hf;
using namespace hf::runtime::cuda;
using namespace hf::test;

TEST_CASE("both forms of gelu are their formulas, in every float type") {
  for_float_types([](auto element) {
    using T = typename decltype(element)::Type;
    const auto x = stored<T>(numbers(1030, -6, 6));
    std::vector<T> y(x.size());
    std::vector<double> wanted = read(x);
    for (double& v : wanted) v = v / 2 * (1 + std::erf(v / std::sqrt(2.0)));
    REQUIRE(gelu(nullptr, kDType<T>, GeluKind::erf, x.data(), y.data(), 1030));
    CHECK(difference(read(y), wanted, tolerance<T>()) == "");
    wanted = read(x);
    for (double& v : wanted) v = v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    REQUIRE(gelu(nullptr, kDType<T>, GeluKind::tanh, x.data(), y.data(), 1030));
    CHECK(difference(read(y), wanted, tolerance<T>()) == "");
  });
}

TEST_CASE("gelu has no kernel for integers") {
  CHECK_FALSE(gelu(nullptr, DType::i64, GeluKind::erf, nullptr, nullptr, 0));
}
