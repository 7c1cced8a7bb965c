#include "tensor/view.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "support/error_of.h"
#include "tensor/half.h"

using namespace hf;
using hf::test::error_of;

namespace {

Tensor counting(DType dtype, Sizes shape) {
  Tensor t(DType::i32, std::move(shape));
  std::iota(t.as<std::int32_t>().begin(), t.as<std::int32_t>().end(), 0);
  return converted(t.view(), dtype);
}

std::vector<std::int32_t> values(const Tensor& t) {
  const Tensor out = converted(t.view(), DType::i32);
  return {out.as<std::int32_t>().begin(), out.as<std::int32_t>().end()};
}

std::vector<std::int32_t> values(const Tensor& t, const View& view) {
  return values(materialize(t.view(), view, t.dtype()));
}

// The same by definition: each element's place, one by one.
std::vector<std::int32_t> by_definition(const Tensor& t, const View& view) {
  const std::vector<std::int32_t> stored = values(t);
  const Sizes sizes = view.reshape.empty() ? t.shape() : view.reshape;
  const Sizes shape = shape_of(view, t.shape());
  Sizes start(sizes.size(), 0), index(shape.size(), 0);
  for (const AxisRange& r : view.ranges) start[static_cast<std::size_t>(r.axis)] += r.begin;
  std::vector<std::int32_t> out;
  for (std::int64_t n = 0; n < elements(shape); ++n) {
    std::int64_t rest = n;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
    Sizes place = start;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      place[view.permutation.empty() ? axis : static_cast<std::size_t>(view.permutation[axis])] +=
          index[axis];
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) at = at * sizes[axis] + place[axis];
    out.push_back(stored[static_cast<std::size_t>(at)]);
  }
  return out;
}

}  // namespace

TEST_CASE("the identity reads the tensor as stored") {
  const Tensor t = counting(DType::f32, {2, 3});
  CHECK(View{}.is_identity());
  CHECK(values(t, {}) == values(t));
  CHECK(shape_of({}, {2, 3}) == Sizes{2, 3});
}

TEST_CASE("reshape, ranges and permutation read as they say") {
  const Tensor t = counting(DType::f32, {2, 6});
  CHECK(values(t, {{}, {{1, 2, 4}}, {}}) == std::vector<std::int32_t>{2, 3, 8, 9});
  CHECK(values(t, {{}, {}, {1, 0}}) == std::vector<std::int32_t>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11});
  CHECK(values(t, {{2, 3, 2}, {{1, 1, 2}}, {}}) == std::vector<std::int32_t>{2, 3, 8, 9});
  CHECK(values(t, {{3, 4}, {{0, 1, 3}, {1, 0, 1}}, {1, 0}}) == std::vector<std::int32_t>{4, 8});
  CHECK(values(t, {{}, {{0, 1, 1}}, {}}).empty());
}

TEST_CASE("GPT-2's c_attn splits into three transposed projections") {
  const Tensor t = counting(DType::f16, {2, 6});  // [hidden, 3 * hidden]
  const View key{{}, {{1, 2, 4}}, {1, 0}};
  CHECK(shape_of(key, t.shape()) == Sizes{2, 2});
  CHECK(values(t, key) == std::vector<std::int32_t>{2, 8, 3, 9});
}

TEST_CASE("gpt_neox's query_key_value splits by head") {
  const Tensor t = counting(DType::f32, {12, 1});  // [heads 2, 3, head_dim 2] rows
  CHECK(values(t, {{2, 3, 2, 1}, {{1, 2, 3}}, {}}) == std::vector<std::int32_t>{4, 5, 10, 11});
}

TEST_CASE("random views of every element size agree with the definition") {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 300; ++round) {
    Sizes shape;
    for (std::int64_t axes = below(5); axes > 0; --axes) shape.push_back(1 + below(round % 10 == 0 ? 70 : 5));
    if (elements(shape) > 100'000) continue;
    View view;
    if (below(2) == 0) {
      view.reshape = shape;
      view.reshape.push_back(1);
      if (below(2) == 0) view.reshape = {elements(shape)};
    }
    const Sizes& sizes = view.reshape.empty() ? shape : view.reshape;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (below(2) == 0) continue;
      const std::int64_t begin = below(sizes[axis] + 1);
      view.ranges.push_back({static_cast<int>(axis), begin, begin + below(sizes[axis] - begin + 1)});
    }
    if (below(2) == 0) {
      view.permutation.resize(sizes.size());
      std::iota(view.permutation.begin(), view.permutation.end(), 0);
      std::shuffle(view.permutation.begin(), view.permutation.end(), random);
    }
    const DType dtypes[] = {DType::f64, DType::f32, DType::i16, DType::u8};
    const Tensor t = counting(dtypes[round % 4], shape);
    CAPTURE(to_string(shape));
    CAPTURE(to_string(view, shape.size()));
    CHECK(values(t, view) == by_definition(t, view));
  }
}

TEST_CASE("a matrix larger than the copy's tile is transposed exactly") {
  const Tensor t = counting(DType::i32, {100, 67});
  const View view{{}, {{0, 1, 98}}, {1, 0}};
  CHECK(values(t, view) == by_definition(t, view));
}

TEST_CASE("narrowing composes with ranges and permutations") {
  const Tensor t = counting(DType::f32, {4, 6});
  const View key{{}, {{1, 2, 6}}, {1, 0}};  // [4, 4]
  const View rows = narrowed(key, 0, 1, 3);
  CHECK(rows == View{{}, {{1, 3, 5}}, {1, 0}});
  const View both = narrowed(rows, 1, 2, 4);
  CHECK(both == View{{}, {{1, 3, 5}, {0, 2, 4}}, {1, 0}});
  CHECK(values(t, both) == std::vector<std::int32_t>{15, 21, 16, 22});
  CHECK(narrowed(narrowed({}, 1, 1, 5), 1, 1, 2) == View{{}, {{1, 2, 3}}, {}});
}

TEST_CASE("narrowing a view equals narrowing what it gives") {
  const Tensor t = counting(DType::f32, {3, 4, 5});
  for (const std::vector<int>& permutation : {std::vector<int>{}, {2, 0, 1}, {1, 2, 0}, {0, 2, 1}}) {
    const View view{{}, {{1, 1, 4}}, permutation};
    const Tensor whole = materialize(t.view(), view, t.dtype());
    for (int axis = 0; axis < 3; ++axis) {
      const View part{{}, {{axis, 1, 3}}, {}};
      CHECK(values(t, narrowed(view, axis, 1, 3)) == values(whole, part));
    }
    CHECK(values(t, transposed(view, 3)) == values(whole, {{}, {}, {0, 2, 1}}));
  }
}

TEST_CASE("transposing twice is the identity") {
  CHECK(transposed(transposed({}, 2), 2).is_identity());
  CHECK(transposed({}, 3).permutation == std::vector<int>{0, 2, 1});
  CHECK(shape_of(transposed({}, 2), {2, 3}) == Sizes{3, 2});
  CHECK(error_of([] { transposed({}, 1); }) == ErrorKind::internal);
}

TEST_CASE("a range that the view does not have is refused") {
  const View columns{{}, {{1, 2, 6}}, {}};
  CHECK(error_of([&] { narrowed({}, 0, -1, 2); }) == ErrorKind::internal);
  CHECK(error_of([&] { narrowed({}, 0, 3, 2); }) == ErrorKind::internal);
  CHECK(error_of([&] { narrowed({}, -1, 0, 1); }) == ErrorKind::internal);
  CHECK(error_of([&] { narrowed(columns, 1, 0, 5); }) == ErrorKind::internal);
  CHECK(error_of([&] { narrowed(View{{}, {}, {1, 0}}, 2, 0, 1); }) == ErrorKind::internal);
  CHECK(error_of([&] { shape_of(narrowed({}, 0, 3, 5), {4, 6}); }) == ErrorKind::integrity);
  CHECK(error_of([&] { shape_of(narrowed({}, 2, 0, 1), {4, 6}); }) == ErrorKind::integrity);
}

TEST_CASE("a view that does not fit the stored tensor is an integrity error") {
  const std::pair<View, const char*> rows[] = {
      {{{5, 5}, {}, {}}, "cannot be read as [5, 5]"},
      {{{-4, -6}, {}, {}}, "cannot be read as [-4, -6]"},
      {{{}, {{2, 0, 1}}, {}}, "no range 0:1 on axis 2"},
      {{{}, {{-1, 0, 1}}, {}}, "on axis -1"},
      {{{}, {{0, 0, 5}}, {}}, "no range 0:5 on axis 0"},
      {{{}, {{0, 2, 1}}, {}}, "no range 2:1"},
      {{{}, {{0, -1, 1}}, {}}, "no range -1:1"},
      {{{}, {}, {0}}, "permutation"},
      {{{}, {}, {0, 0}}, "permutation"},
      {{{}, {}, {0, 2}}, "permutation"},
      {{{}, {}, {-1, 0}}, "permutation"},
  };
  for (const auto& [view, message] : rows) {
    const auto caught = error_of([&, &v = view] { shape_of(v, {4, 6}); });
    CHECK(caught == ErrorKind::integrity);
    CHECK_MESSAGE(caught.says(message), caught.message);
  }
}

TEST_CASE("a tensor without elements may have any other sizes") {
  const Sizes stored{0, std::int64_t{1} << 32, std::int64_t{1} << 32};
  const Tensor t(DType::f32, stored);
  CHECK(shape_of({}, stored) == stored);
  CHECK(materialize(t.view(), {}, DType::f16).shape() == stored);
  CHECK(shape_of(View{{}, {{1, 5, 7}}, {2, 1, 0}}, stored) == Sizes{std::int64_t{1} << 32, 2, 0});
}

TEST_CASE("views print as Python would index") {
  CHECK(to_string(View{}, 2).empty());
  CHECK(to_string(View{{}, {{1, 0, 40}}, {}}, 2) == "[:,0:40]");
  CHECK(to_string(View{{}, {}, {1, 0}}, 2) == ".T");
  CHECK(to_string(View{{}, {{1, 0, 40}}, {1, 0}}, 2) == "[:,0:40].T");
  CHECK(to_string(View{{2, 3, 8}, {{0, 0, 1}}, {}}, 2) == "{2,3,8}[0:1,:,:]");
  CHECK(to_string(View{{}, {}, {0, 2, 1}}, 3) == ".permute(0,2,1)");
  CHECK(to_string(View{{}, {}, {0, 1}}, 2).empty());
}

TEST_CASE("data at any address is read") {
  const Tensor t = counting(DType::f32, {3, 4});
  for (std::size_t shift = 1; shift < 8; ++shift) {
    std::vector<std::byte> raw(t.bytes().size() + shift);
    std::memcpy(raw.data() + shift, t.bytes().data(), t.bytes().size());
    const TensorView unaligned{std::span(raw).subspan(shift), DType::f32, {3, 4}};
    const View view{{}, {{1, 1, 3}}, {1, 0}};
    CHECK(values(materialize(unaligned, view, DType::f32)) == std::vector<std::int32_t>{1, 5, 9, 2, 6, 10});
    CHECK(values(materialize(unaligned, view, DType::f16)) == std::vector<std::int32_t>{1, 5, 9, 2, 6, 10});
  }
}

TEST_CASE("rows stream through a small buffer and convert on the way") {
  const Tensor t = counting(DType::f32, {5, 3});
  const View view{{}, {}, {1, 0}};  // [3, 5]
  std::vector<std::uint16_t> row(5);
  copy_rows(t.view(), view, 1, 2, DType::bf16, std::as_writable_bytes(std::span(row)));
  for (std::size_t i = 0; i < row.size(); ++i) CHECK(bf16_to_f32(row[i]) == static_cast<float>(1 + 3 * i));
}

TEST_CASE("a tensor without axes is one row") {
  const Tensor t = Tensor::scalar(2.5f);
  float out = 0;
  copy_rows(t.view(), {}, 0, 1, DType::f32, std::as_writable_bytes(std::span(&out, 1)));
  CHECK(out == 2.5f);
  CHECK(materialize(t.view(), {}, DType::f64).as<double>()[0] == 2.5);
}

TEST_CASE("rows, buffers and bytes that do not fit are refused") {
  const Tensor t = counting(DType::f32, {4, 2});
  std::vector<std::byte> out(16);
  CHECK(error_of([&] { copy_rows(t.view(), {}, 3, 5, DType::f32, out); }) == ErrorKind::internal);
  CHECK(error_of([&] { copy_rows(t.view(), {}, -1, 1, DType::f32, out); }) == ErrorKind::internal);
  CHECK(error_of([&] { copy_rows(t.view(), {}, 3, 1, DType::f32, out); }) == ErrorKind::internal);
  CHECK(error_of([&] { copy_rows(t.view(), {}, 0, 1, DType::f32, out); }) == ErrorKind::internal);
  const TensorView short_view{t.bytes().first(31), DType::f32, {4, 2}};
  CHECK(error_of([&] { materialize(short_view, {}, DType::f32); }) == ErrorKind::integrity);
}
