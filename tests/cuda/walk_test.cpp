#include "runtime/cuda/walk.h"

#include <doctest/doctest.h>

#include "emulator/cuda_emulator.h"
#include "runtime/cuda/walk.cuh"
#include "support/error_of.h"

using namespace hf;
using namespace hf::runtime::cuda;
using hf::test::error_of;

namespace {

// The offset of `index` by definition: its coordinates times the strides.
std::int64_t offset_by_definition(const Numbers& sizes, const Numbers& strides, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    offset += index % sizes[axis] * strides[axis];
    index /= sizes[axis];
  }
  return offset;
}

void check_walk(const Numbers& sizes, const Numbers& a, const Numbers& b) {
  const Walk<2> walk = make_walk<2>(sizes, {a, b});
  Walk<2> wide = walk;
  wide.narrow = false;
  for (std::int64_t i = 0; i < walk.count; ++i) {
    REQUIRE(offsets(walk, i).of[0] == offset_by_definition(sizes, a, i));
    REQUIRE(offsets(walk, i).of[1] == offset_by_definition(sizes, b, i));
    REQUIRE(offsets(wide, i).of[1] == offsets(walk, i).of[1]);
  }
}

}  // namespace

TEST_CASE("tensors of one shape are walked along one axis") {
  const Numbers shape{2, 3, 4}, dense = dense_strides(shape);
  CHECK(dense == Numbers{12, 4, 1});
  const Walk<2> walk = make_walk<2>(shape, {dense, dense});
  CHECK(walk.rank == 1);
  CHECK(walk.size[0] == 24);
  CHECK(walk.narrow);
}

TEST_CASE("a walk finds each element where its coordinates say") {
  check_walk({2, 3, 4}, dense_strides(Numbers{2, 3, 4}), {0, 4, 1});
  check_walk({2, 3, 4}, {1, 2, 6}, dense_strides(Numbers{2, 3, 4}));
  check_walk({5, 1, 7, 1}, broadcast_strides(Numbers{5, 1, 1, 1}, Numbers{5, 1, 7, 1}),
             broadcast_strides(Numbers{7, 1}, Numbers{5, 1, 7, 1}));
  check_walk({}, {}, {});
  check_walk({3, 2, 2, 3}, {2, 0, 1, 0}, {12, 6, 3, 1});
}

TEST_CASE("a broadcast stretches sizes of 1 and missing axes") {
  CHECK(broadcast_strides(Numbers{3, 1}, Numbers{2, 3, 4}) == Numbers{0, 1, 0});
  CHECK(broadcast_strides(Numbers{}, Numbers{2, 3}) == Numbers{0, 0});
  CHECK(error_of([] { broadcast_strides(Numbers{2}, Numbers{3}); }) == ErrorKind::internal);
  CHECK(error_of([] { broadcast_strides(Numbers{1, 3}, Numbers{3}); }) == ErrorKind::internal);
}

TEST_CASE("a walk over nothing counts nothing") {
  CHECK(make_walk<1>(Numbers{4, 0, 2}, {Numbers{0, 2, 1}}).count == 0);
}

TEST_CASE("more axes than a walk holds are refused") {
  const Numbers sizes(10, 2);
  Numbers scattered(10);
  for (std::size_t i = 0; i < 10; ++i) scattered[i] = i % 2 == 0 ? 1 : 100;
  const auto caught = error_of([&] { make_walk<2>(sizes, {scattered, dense_strides(sizes)}); });
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("at most 8"));
}

TEST_CASE("a walk beyond 31 bits divides 64-bit numbers") {
  const Numbers sizes{3, std::int64_t{1} << 31}, strides{std::int64_t{1} << 32, 1};
  const Walk<1> walk = make_walk<1>(sizes, {strides});
  CHECK_FALSE(walk.narrow);
  CHECK(offsets(walk, (std::int64_t{1} << 32) + 5).of[0] == (std::int64_t{1} << 33) + 5);
  // Few elements far apart need it as well.
  CHECK_FALSE(make_walk<1>(Numbers{2, 2}, {strides}).narrow);
}

TEST_CASE("grids are never empty and never too wide") {
  CHECK(element_geometry(1).blocks == 1);
  CHECK(element_geometry(257).blocks == 2);
  CHECK(element_geometry(std::int64_t{1} << 40).blocks == 65536);
  CHECK(line_geometry(3, 5).threads == 32);
  CHECK(line_geometry(3, 33).threads == 64);
  CHECK(line_geometry(std::int64_t{1} << 40, 100000).threads == 256);
}
