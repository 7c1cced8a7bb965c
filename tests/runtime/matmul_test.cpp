#include <doctest/doctest.h>

#include "run_op.h"

using namespace hf;
using namespace hf::test;

namespace {

// Three loops over the last two axes, the others by broadcasting.
Tensor product(const Tensor& a, const Tensor& b, const Sizes& shape) {
  Tensor out(DType::f64, shape);
  const std::vector<double> x = doubles(a), y = doubles(b);
  const std::int64_t m = shape[shape.size() - 2], n = shape.back(), k = a.shape().back();
  const auto matrix_of = [&](const Tensor& t, std::int64_t batch, std::int64_t size) {
    std::int64_t at = 0, stride = 1;
    for (std::size_t axis = 3; axis <= shape.size(); ++axis) {
      const std::int64_t index = batch % shape[shape.size() - axis];
      batch /= shape[shape.size() - axis];
      if (axis > t.shape().size()) continue;
      const std::int64_t own = t.shape()[t.shape().size() - axis];
      at += (own == 1 ? 0 : index) * stride;
      stride *= own;
    }
    return at * size;
  };
  for (std::int64_t batch = 0; batch * m * n < out.size(); ++batch)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += x[static_cast<std::size_t>(matrix_of(a, batch, m * k) + i * k + p)] *
                 y[static_cast<std::size_t>(matrix_of(b, batch, k * n) + p * n + j)];
        out.as<double>()[static_cast<std::size_t>((batch * m + i) * n + j)] = sum;
      }
  return out;
}

}  // namespace

TEST_CASE("MatMul multiplies matrices, batches of them and broadcast ones") {
  struct Case {
    Sizes a, b, shape;
  };
  for (const Case& c :
       {Case{{3, 4}, {4, 5}, {3, 5}}, Case{{1, 1}, {1, 1}, {1, 1}}, Case{{2, 3, 4}, {4, 5}, {2, 3, 5}},
        Case{{2, 3, 7, 5}, {2, 3, 5, 9}, {2, 3, 7, 9}}, Case{{3, 4}, {6, 4, 5}, {6, 3, 5}},
        Case{{2, 1, 3, 4}, {5, 4, 2}, {2, 5, 3, 2}}, Case{{1, 70, 65}, {65, 130}, {1, 70, 130}},
        Case{{90, 200}, {200, 3}, {90, 3}}, Case{{2, 100, 64}, {2, 64, 100}, {2, 100, 100}}}) {
    CAPTURE(to_string(c.a));
    CAPTURE(to_string(c.b));
    const Tensor a = random(DType::f32, c.a, 1), b = random(DType::f32, c.b, 2);
    const Tensor expected = product(a, b, c.shape);
    for (const std::size_t threads : {1u, 2u, 3u})
      CHECK(difference(run_op(MatMul{}, {&a, &b}, threads), expected) < 5e-5);
    const Tensor wide_a = converted(a.view(), DType::f64), wide_b = converted(b.view(), DType::f64);
    CHECK(difference(run_op(MatMul{}, {&wide_a, &wide_b}), expected) < 1e-12);
  }
}

TEST_CASE("MatMul over nothing") {
  const Tensor rows = random(DType::f32, {0, 4}, 1), b = random(DType::f32, {4, 5}, 2);
  CHECK(run_op(MatMul{}, {&rows, &b}).shape() == Sizes{0, 5});
  const Tensor thin = random(DType::f32, {2, 3, 0}, 1), flat = random(DType::f32, {2, 0, 4}, 2);
  const Tensor zeros = run_op(MatMul{}, {&thin, &flat});
  CHECK(zeros.shape() == Sizes{2, 3, 4});
  CHECK(difference(zeros, Tensor(DType::f32, {2, 3, 4})) == 0);
}
