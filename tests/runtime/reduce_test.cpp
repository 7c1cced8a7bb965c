#include <doctest/doctest.h>

#include <cmath>

#include "run_op.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

namespace {
using Row = std::vector<double>;
}

TEST_CASE("Reduce goes over any axes") {
  const Tensor x = tensor(DType::f32, {2, 3}, {1, 5, 3, -4, 0, 2});
  CHECK(doubles(run_op(Reduce{Reduce::sum, {1}, false}, {&x})) == Row{9, -2});
  CHECK(doubles(run_op(Reduce{Reduce::sum, {0}, false}, {&x})) == Row{-3, 5, 5});
  CHECK(doubles(run_op(Reduce{Reduce::mean, {1}, true}, {&x})) == Row{3, double(-2.0f / 3.0f)});
  CHECK(doubles(run_op(Reduce{Reduce::maximum, {0, 1}, false}, {&x})) == Row{5});
  CHECK(doubles(run_op(Reduce{Reduce::minimum, {0}, true}, {&x})) == Row{-4, 0, 2});
  CHECK(run_op(Reduce{Reduce::sum, {0, 1}, true}, {&x}).shape() == Sizes{1, 1});
  const Tensor cube = random(DType::f64, {3, 4, 5}, 1);
  const Tensor outer = run_op(Reduce{Reduce::sum, {0, 2}, false}, {&cube});
  for (std::size_t j = 0; j < 4; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 5; ++k) sum += cube.as<double>()[(i * 4 + j) * 5 + k];
    CHECK(outer.as<double>()[j] == doctest::Approx(sum).epsilon(1e-14));
  }
}

TEST_CASE("A long sum in fp32 keeps its digits") {
  Tensor x(DType::f32, {1 << 20});
  for (float& v : x.as<float>()) v = 0.1f;
  CHECK(run_op(Reduce{Reduce::sum, {0}, false}, {&x}).as<float>()[0] ==
        doctest::Approx(double{0.1f} * (1 << 20)).epsilon(1e-7));
}

TEST_CASE("Reduce of integers, of nothing, and of NaN") {
  const Tensor x = tensor(DType::i64, {3}, {4, -9, 2});
  CHECK(doubles(run_op(Reduce{Reduce::sum, {0}, false}, {&x})) == Row{-3});
  CHECK(doubles(run_op(Reduce{Reduce::minimum, {0}, false}, {&x})) == Row{-9});
  const Tensor none(DType::f32, {2, 0});
  CHECK(doubles(run_op(Reduce{Reduce::sum, {1}, false}, {&none})) == Row{0, 0});
  CHECK(error_of([&] { run_op(Reduce{Reduce::maximum, {1}, false}, {&none}); }) == ErrorKind::usage);
  for (const Row& values : {Row{NAN, 1, 2}, Row{1, NAN, 2}, Row{1, 2, NAN}}) {
    const Tensor bad = tensor(DType::f32, {3}, {values[0], values[1], values[2]});
    CHECK(std::isnan(run_op(Reduce{Reduce::maximum, {0}, false}, {&bad}).as<float>()[0]));
    CHECK(std::isnan(run_op(Reduce{Reduce::minimum, {0}, false}, {&bad}).as<float>()[0]));
  }
}
