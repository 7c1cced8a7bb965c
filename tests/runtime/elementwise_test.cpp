#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "run_op.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

using Row = std::vector<double>;

}  // namespace

TEST_CASE("Unary of floats") {
  struct Case {
    Unary::Kind kind;
    double (*expected)(double);
  };
  const Tensor x = random(DType::f32, {3, 1000}, 1, 0.1, 4), wide = converted(x.view(), DType::f64);
  for (const Case& c : {Case{Unary::negate, [](double v) { return -v; }},
                        Case{Unary::absolute, [](double v) { return std::fabs(v); }},
                        Case{Unary::exp, [](double v) { return std::exp(v); }},
                        Case{Unary::log, [](double v) { return std::log(v); }},
                        Case{Unary::sqrt, [](double v) { return std::sqrt(v); }},
                        Case{Unary::reciprocal, [](double v) { return 1 / v; }},
                        Case{Unary::erf, [](double v) { return std::erf(v); }},
                        Case{Unary::tanh, [](double v) { return std::tanh(v); }},
                        Case{Unary::sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }},
                        Case{Unary::relu, [](double v) { return v > 0 ? v : 0; }},
                        Case{Unary::sin, [](double v) { return std::sin(v); }},
                        Case{Unary::cos, [](double v) { return std::cos(v); }}}) {
    CAPTURE(name_of(c.kind));
    const Row narrow = doubles(run_op(Unary{c.kind}, {&x})), exact = doubles(run_op(Unary{c.kind}, {&wide}));
    const Row in = doubles(x);
    for (std::size_t i = 0; i < in.size(); ++i) {
      REQUIRE(exact[i] == doctest::Approx(c.expected(in[i])).epsilon(1e-15));
      REQUIRE(narrow[i] == doctest::Approx(c.expected(in[i])).epsilon(4e-7));
    }
  }
}

TEST_CASE("Unary of integers and flags") {
  const Tensor x = tensor(DType::i64, {3}, {-5, 0, 7}), small = tensor(DType::i32, {2}, {-2, 2});
  CHECK(doubles(run_op(Unary{Unary::negate}, {&x})) == Row{5, 0, -7});
  CHECK(doubles(run_op(Unary{Unary::absolute}, {&x})) == Row{5, 0, 7});
  CHECK(doubles(run_op(Unary{Unary::absolute}, {&small})) == Row{2, 2});
  const Tensor flags = tensor(DType::boolean, {2}, {1, 0});
  CHECK(doubles(run_op(Unary{Unary::logical_not}, {&flags})) == Row{0, 1});
}

TEST_CASE("NaN goes through relu, minimum and maximum") {
  const Tensor x = tensor(DType::f32, {2}, {kNan, -1}), y = tensor(DType::f32, {2}, {0, kNan});
  CHECK(std::isnan(run_op(Unary{Unary::relu}, {&x}).as<float>()[0]));
  for (const Binary::Kind kind : {Binary::minimum, Binary::maximum}) {
    const Tensor out = run_op(Binary{kind}, {&x, &y});
    CHECK(std::isnan(out.as<float>()[0]));
    CHECK(std::isnan(out.as<float>()[1]));
  }
}

TEST_CASE("Binary arithmetic") {
  const Tensor a = tensor(DType::f32, {4}, {1, -2, 3, 0.5}), b = tensor(DType::f32, {4}, {2, 2, -1, 0.25});
  CHECK(doubles(run_op(Binary{Binary::add}, {&a, &b})) == Row{3, 0, 2, 0.75});
  CHECK(doubles(run_op(Binary{Binary::subtract}, {&a, &b})) == Row{-1, -4, 4, 0.25});
  CHECK(doubles(run_op(Binary{Binary::multiply}, {&a, &b})) == Row{2, -4, -3, 0.125});
  CHECK(doubles(run_op(Binary{Binary::divide}, {&a, &b})) == Row{0.5, -1, -3, 2});
  CHECK(doubles(run_op(Binary{Binary::minimum}, {&a, &b})) == Row{1, -2, -1, 0.25});
  CHECK(doubles(run_op(Binary{Binary::maximum}, {&a, &b})) == Row{2, 2, 3, 0.5});
  const Tensor base = tensor(DType::f32, {2}, {3, 4}), power = tensor(DType::f32, {2}, {2, 0.5});
  CHECK(doubles(run_op(Binary{Binary::power}, {&base, &power})) == Row{9, 2});
}

TEST_CASE("Binary broadcasts either side along any axes") {
  struct Case {
    Sizes a, b;
  };
  for (const Case& c :
       {Case{{2, 3, 4}, {4}}, Case{{4}, {2, 3, 4}}, Case{{2, 1, 4}, {3, 1}}, Case{{2, 3, 1}, {2, 1, 5}},
        Case{{}, {3, 2}}, Case{{1, 1}, {1}}, Case{{5, 1, 3, 1}, {1, 4, 1, 2}}, Case{{2, 3}, {2, 3}},
        Case{{0, 3}, {1, 3}}, Case{{300, 1, 7}, {1, 200, 1}}}) {
    CAPTURE(to_string(c.a));
    CAPTURE(to_string(c.b));
    const Tensor a = random(DType::f32, c.a, 1), b = random(DType::f32, c.b, 2);
    const Tensor y = run_op(Binary{Binary::subtract}, {&a, &b});
    // By NumPy's rule, index by index.
    const Sizes shape = to_sizes(broadcast(to_shape(c.a), to_shape(c.b)));
    REQUIRE(y.shape() == shape);
    const auto at = [&](const Tensor& t, std::int64_t i) {
      std::int64_t offset = 0, stride = 1;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::int64_t size = shape[shape.size() - 1 - axis], index = i % size;
        i /= size;
        if (axis >= t.shape().size()) continue;
        const std::int64_t own = t.shape()[t.shape().size() - 1 - axis];
        offset += (own == 1 ? 0 : index) * stride;
        stride *= own;
      }
      return t.as<float>()[static_cast<std::size_t>(offset)];
    };
    for (std::int64_t i = 0; i < y.size(); ++i)
      REQUIRE(y.as<float>()[static_cast<std::size_t>(i)] == at(a, i) - at(b, i));
  }
}

TEST_CASE("Integers wrap around and divide towards zero") {
  Tensor a(DType::i64, {3}), b(DType::i64, {3});
  a.as<std::int64_t>()[0] = kLeast;
  a.as<std::int64_t>()[1] = -7;
  a.as<std::int64_t>()[2] = 7;
  b.as<std::int64_t>()[0] = -1;
  b.as<std::int64_t>()[1] = 2;
  b.as<std::int64_t>()[2] = -2;
  const Tensor quotient = run_op(Binary{Binary::divide}, {&a, &b});
  CHECK(quotient.as<std::int64_t>()[0] == kLeast);
  CHECK(quotient.as<std::int64_t>()[1] == -3);
  CHECK(quotient.as<std::int64_t>()[2] == -3);
  CHECK(run_op(Binary{Binary::add}, {&a, &b}).as<std::int64_t>()[0] ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(run_op(Unary{Unary::negate}, {&a}).as<std::int64_t>()[0] == kLeast);
}

TEST_CASE("An integer divided by zero is refused with the node's path") {
  const Tensor a = tensor(DType::i64, {2}, {1, 2}), b = tensor(DType::i64, {2}, {1, 0});
  const Caught caught = error_of([&] { run_op(Binary{Binary::divide}, {&a, &b}); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("layer.0.block"));
}

TEST_CASE("Logic, comparison and choice") {
  const Tensor p = tensor(DType::boolean, {4}, {1, 1, 0, 0}), q = tensor(DType::boolean, {4}, {1, 0, 1, 0});
  CHECK(doubles(run_op(Binary{Binary::logical_and}, {&p, &q})) == Row{1, 0, 0, 0});
  CHECK(doubles(run_op(Binary{Binary::logical_or}, {&p, &q})) == Row{1, 1, 1, 0});
  CHECK(doubles(run_op(Compare{Compare::equal}, {&p, &q})) == Row{1, 0, 0, 1});
  const Tensor a = tensor(DType::i64, {3}, {1, 2, 3}), two = tensor(DType::i64, {}, {2});
  CHECK(doubles(run_op(Compare{Compare::less}, {&a, &two})) == Row{1, 0, 0});
  CHECK(doubles(run_op(Compare{Compare::less_or_equal}, {&a, &two})) == Row{1, 1, 0});
  CHECK(doubles(run_op(Compare{Compare::greater}, {&a, &two})) == Row{0, 0, 1});
  CHECK(doubles(run_op(Compare{Compare::greater_or_equal}, {&a, &two})) == Row{0, 1, 1});
  const Tensor column = tensor(DType::boolean, {2, 1}, {1, 0}), row = tensor(DType::f32, {3}, {1, 2, 3}),
               zero = tensor(DType::f32, {}, {0});
  CHECK(doubles(run_op(Where{}, {&column, &row, &zero})) == Row{1, 2, 3, 0, 0, 0});
}

TEST_CASE("Cast takes every dtype to every other") {
  const DType all[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,    DType::i16,
                       DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::boolean};
  const Tensor small = tensor(DType::f64, {3}, {0, 1, 5});
  for (const DType from : all)
    for (const DType to : all) {
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      const Tensor x = converted(small.view(), from), y = run_op(Cast{to}, {&x});
      CHECK(y.dtype() == to);
      const bool flags = from == DType::boolean || to == DType::boolean;
      CHECK(doubles(y) == (flags ? Row{0, 1, 1} : Row{0, 1, 5}));
    }
}

TEST_CASE("A dtype without a kernel is refused by name") {
  const Tensor half = random(DType::f16, {2}, 1);
  const Caught caught = error_of([&] { run_op(Unary{Unary::exp}, {&half}); });
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("fp16"));
  CHECK(caught.says("layer.0.block"));
}
