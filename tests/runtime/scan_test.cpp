#include <doctest/doctest.h>

#include <cmath>

#include "run_op.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

namespace {
using Row = std::vector<double>;
}

TEST_CASE("ArgMax finds the first greatest along any axis") {
  const Tensor x = tensor(DType::f32, {2, 3}, {1, 7, 7, 4, 0, -2});
  const Tensor y = run_op(ArgMax{1, false}, {&x});
  CHECK(y.dtype() == DType::i64);
  CHECK(doubles(y) == Row{1, 0});
  CHECK(doubles(run_op(ArgMax{0, false}, {&x})) == Row{1, 0, 0});
  CHECK(run_op(ArgMax{1, true}, {&x}).shape() == Sizes{2, 1});
  const Tensor counts = tensor(DType::i64, {4}, {-3, -1, -1, -2});
  CHECK(doubles(run_op(ArgMax{0, false}, {&counts})) == Row{1});
}

TEST_CASE("ArgMax takes NaN for the greatest, as torch and NumPy do") {
  const Tensor x = tensor(DType::f32, {4}, {1, NAN, 9, NAN});
  CHECK(doubles(run_op(ArgMax{0, false}, {&x})) == Row{1});
}

TEST_CASE("ArgMax of nothing is refused") {
  const Tensor none(DType::f32, {2, 0});
  CHECK(error_of([&] { run_op(ArgMax{1, false}, {&none}); }) == ErrorKind::usage);
}

TEST_CASE("CumSum adds up along any axis") {
  const Tensor x = tensor(DType::i64, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(doubles(run_op(CumSum{1}, {&x})) == Row{1, 3, 6, 4, 9, 15});
  CHECK(doubles(run_op(CumSum{0}, {&x})) == Row{1, 2, 3, 5, 7, 9});
  const Tensor f = tensor(DType::f32, {3}, {0.5, 0.25, -1});
  CHECK(doubles(run_op(CumSum{0}, {&f})) == Row{0.5, 0.75, -0.25});
}
