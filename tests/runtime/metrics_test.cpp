#include "runtime/compare/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "run_op.h"
#include "runtime/compare/tolerance.h"

using namespace hf;
using namespace hf::runtime;
using hf::test::tensor;

namespace {

Metrics measured(const Tensor& actual, const Tensor& reference, Tolerance tolerance = {0.5, 0},
                 bool with_argmax = false) {
  return measure(actual.view(), reference.view(), tolerance, with_argmax);
}

}  // namespace

TEST_CASE("the metrics of a small example, by hand") {
  const Tensor reference = tensor(DType::f32, {2, 2}, {3, 4, 0, -2}),
               actual = tensor(DType::f32, {2, 2}, {3, 5, 0.25, -1});
  const Metrics m = measured(actual, reference, {0.5, 0}, true);
  CHECK(m.elements == 4);
  CHECK(m.max_absolute == 1);
  CHECK(m.mean_absolute == 0.5625);                                 // (0 + 1 + 0.25 + 1) / 4
  CHECK(m.max_relative == 0.5);                                     // 1 / |-2|
  CHECK(m.mean_relative == doctest::Approx((0 + 0.25 + 0.5) / 3));  // 0 is below the absolute tolerance
  CHECK(m.cosine == doctest::Approx(31 / std::sqrt(29.0 * 35.0625)));
  CHECK(m.argmax_agreement == 1.0);
  CHECK(m.beyond == 2);
  CHECK(m.worst == 1);
  CHECK(m.worst_actual == 5);
  CHECK(m.worst_reference == 4);
  CHECK(index_of(m.worst, {2, 2}) == "[0, 1]");
}

TEST_CASE("a value on the tolerance passes, the next does not") {
  const Tensor reference = tensor(DType::f64, {1}, {1});
  CHECK(measured(tensor(DType::f64, {1}, {1.5}), reference).beyond == 0);
  CHECK(measured(tensor(DType::f64, {1}, {std::nextafter(1.5, 2)}), reference).beyond == 1);
}

TEST_CASE("the relative tolerance counts for large values only") {
  const Tolerance tolerance{1e-5, 1e-6};
  CHECK(tolerance.at(0) == 1e-5);
  CHECK(tolerance.at(-10) == 1e-5);
  CHECK(tolerance.at(-1000) == doctest::Approx(1e-3));
}

TEST_CASE("argmax agreement is the share of rows") {
  const Tensor reference = tensor(DType::f32, {4, 3}, {1, 2, 3, 3, 2, 1, 1, 3, 2, 5, 5, 1});
  const Tensor actual = tensor(DType::f32, {4, 3}, {1, 2, 3, 3, 2, 1, 3, 1, 2, 5, 5, 1});
  CHECK(measured(actual, reference, {9, 0}, true).argmax_agreement == 0.75);
}

TEST_CASE("NaN and infinity where the reference has a number are beyond any tolerance") {
  const Tensor reference = tensor(DType::f32, {4}, {1, 2, 3, 4}),
               actual = tensor(DType::f32, {4}, {1, NAN, INFINITY, 4});
  const Metrics m = measured(actual, reference, {1e30, 0});
  CHECK(m.not_finite == 2);
  CHECK(m.beyond == 2);
  CHECK(m.worst == 1);
  CHECK(m.max_absolute == 0);
}

TEST_CASE("the same infinity is the same value, another sign or NaN is not") {
  const Tensor reference = tensor(DType::f32, {3}, {-INFINITY, INFINITY, NAN});
  const Metrics m = measured(tensor(DType::f32, {3}, {-INFINITY, -INFINITY, NAN}), reference);
  CHECK(m.beyond == 2);
  CHECK(m.reference_not_finite == 1);
}

TEST_CASE("a tolerance that is no number lets nothing pass") {
  CHECK(measured(tensor(DType::f32, {1}, {1}), tensor(DType::f32, {1}, {1}), {NAN, 0}).beyond == 1);
}

TEST_CASE("cosine of zero vectors") {
  const Tensor zero(DType::f32, {2}), one = tensor(DType::f32, {2}, {1, 0}),
                                      minus = tensor(DType::f32, {2}, {-1, 0});
  CHECK(measured(zero, zero).cosine == 1);
  CHECK(measured(zero, one).cosine == 0);
  CHECK(measured(one, minus).cosine == -1);
}

TEST_CASE("integers are compared in any width, and nothing at all is equal to itself") {
  CHECK(measured(tensor(DType::i64, {2}, {1, 2}), tensor(DType::i32, {2}, {1, 2}), {0, 0}).beyond == 0);
  CHECK(measured(tensor(DType::i64, {2}, {1, 3}), tensor(DType::i32, {2}, {1, 2}), {0, 0}).beyond == 1);
  const Metrics m = measured(Tensor(DType::f32, {0, 3}), Tensor(DType::f32, {0, 3}), {0, 0}, true);
  CHECK(m.elements == 0);
  CHECK_FALSE(m.argmax_agreement.has_value());
}

TEST_CASE("measuring in pieces is measuring at once") {
  // More than one piece of 65536 elements; one element of the last row is off.
  Tensor reference = test::random(DType::f32, {50, 5000}, 1), actual = Tensor::copy_of(reference.view());
  actual.as<float>()[249999] += 1;
  const Metrics m = measured(actual, reference, {0.5, 0}, true);
  CHECK(m.elements == 250000);
  CHECK(m.beyond == 1);
  CHECK(m.worst == 249999);
  CHECK(index_of(m.worst, {50, 5000}) == "[49, 4999]");
  CHECK(m.mean_absolute == doctest::Approx(1.0 / 250000).epsilon(1e-6));
}

TEST_CASE("tolerances by dtype, and what noise does to them") {
  CHECK(default_tolerance(DType::f32).absolute == 1e-5);
  CHECK(default_tolerance(DType::f16).absolute == 16.0 / 2048);
  CHECK(default_tolerance(DType::i64).absolute == 0);
  CHECK(raised_to_noise({1e-5, 1e-6}, 1e-6).absolute == 1e-5);
  CHECK(raised_to_noise({1e-5, 1e-6}, 1e-5).absolute == doctest::Approx(3e-5));
}
