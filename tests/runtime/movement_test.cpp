#include <doctest/doctest.h>

#include "run_op.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

namespace {

using Row = std::vector<double>;

Tensor counted(DType dtype, Sizes shape) {
  Tensor out(DType::i64, std::move(shape));
  for (std::size_t i = 0; i < out.as<std::int64_t>().size(); ++i)
    out.as<std::int64_t>()[i] = static_cast<std::int64_t>(i);
  return converted(out.view(), dtype);
}

}  // namespace

TEST_CASE("Gather takes slices along any axis") {
  const Tensor x = counted(DType::f32, {2, 3, 2}), indices = tensor(DType::i64, {2}, {2, 0});
  CHECK(doubles(run_op(Gather{1}, {&x, &indices})) == Row{4, 5, 0, 1, 10, 11, 6, 7});
  const Tensor one = tensor(DType::i64, {}, {1}), grid = tensor(DType::i64, {1, 2}, {1, 1});
  CHECK(run_op(Gather{0}, {&x, &one}).shape() == Sizes{3, 2});
  CHECK(doubles(run_op(Gather{0}, {&x, &one})) == Row{6, 7, 8, 9, 10, 11});
  CHECK(run_op(Gather{2}, {&x, &grid}).shape() == Sizes{2, 3, 1, 2});
  const Tensor none(DType::i64, {0});
  CHECK(run_op(Gather{0}, {&x, &none}).shape() == Sizes{0, 3, 2});
}

TEST_CASE("An index outside the table is refused with its value and the table's size") {
  const Tensor x = counted(DType::f32, {3, 2});
  for (const double bad : {3.0, -1.0}) {
    const Tensor indices = tensor(DType::i64, {2}, {0, bad});
    const Caught caught = error_of([&] { run_op(Gather{0}, {&x, &indices}); });
    CHECK(caught == ErrorKind::usage);
    CHECK(caught.says("layer.0.block"));
    CHECK(caught.says("[0, 3)"));
  }
}

TEST_CASE("Transpose permutes axes of any dtype") {
  for (const DType dtype : {DType::f32, DType::i64, DType::i16, DType::boolean}) {
    const Tensor x = converted(counted(DType::i64, {2, 3}).view(), dtype);
    const Tensor y = run_op(Transpose{{1, 0}}, {&x});
    CHECK(y.shape() == Sizes{3, 2});
    CHECK(doubles(y) == (dtype == DType::boolean ? Row{0, 1, 1, 1, 1, 1} : Row{0, 3, 1, 4, 2, 5}));
  }
  const Tensor x = counted(DType::f32, {2, 3, 4, 5});
  const Tensor y = run_op(Transpose{{2, 0, 3, 1}}, {&x});
  REQUIRE(y.shape() == Sizes{4, 2, 5, 3});
  for (std::int64_t a = 0; a < 4; ++a)
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t c = 0; c < 5; ++c)
        for (std::int64_t d = 0; d < 3; ++d)
          CHECK(y.as<float>()[static_cast<std::size_t>(((a * 2 + b) * 5 + c) * 3 + d)] ==
                x.as<float>()[static_cast<std::size_t>(((b * 3 + d) * 4 + a) * 5 + c)]);
  const Tensor none(DType::f32, {2, 0, 3});
  CHECK(run_op(Transpose{{2, 1, 0}}, {&none}).shape() == Sizes{3, 0, 2});
}

TEST_CASE("Slice takes every step-th element of an axis") {
  const Tensor x = counted(DType::f32, {2, 5});
  CHECK(doubles(run_op(Slice{1, 1, 3}, {&x})) == Row{1, 2, 6, 7});
  CHECK(doubles(run_op(Slice{1, 0, 5, 2}, {&x})) == Row{0, 2, 4, 5, 7, 9});
  CHECK(doubles(run_op(Slice{0, 1, 2}, {&x})) == Row{5, 6, 7, 8, 9});
  CHECK(run_op(Slice{1, 2, 2}, {&x}).shape() == Sizes{2, 0});
}

TEST_CASE("Concat joins along any axis, empty parts too") {
  const Tensor a = counted(DType::i32, {2, 2}), b = counted(DType::i32, {2, 1}), none(DType::i32, {2, 0});
  CHECK(doubles(run_op(Concat{1}, {&a, &none, &b})) == Row{0, 1, 0, 2, 3, 1});
  CHECK(doubles(run_op(Concat{0}, {&a, &a})) == Row{0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("Expand stretches, Reshape keeps the order, Range counts") {
  const Tensor column = counted(DType::u8, {2, 1});
  CHECK(doubles(run_op(Expand{{2, 2, 3}}, {&column})) == Row{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  const Tensor x = counted(DType::f32, {2, 3});
  const Tensor y = run_op(Reshape{{3, -1}}, {&x});
  CHECK(y.shape() == Sizes{3, 2});
  CHECK(doubles(y) == Row{0, 1, 2, 3, 4, 5});
  CHECK(doubles(run_op(Range{2, 5}, {})) == Row{2, 3, 4});
  CHECK(run_op(Range{4, 4}, {}).shape() == Sizes{0});
}
