#include "tensor/shape.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "support/error_of.h"

using namespace hf;
using hf::test::error_of;

namespace {

const Dim kBatch = Dim::symbol("batch_size"), kSequence = Dim::symbol("sequence_length");

}  // namespace

TEST_CASE("a shape prints as a list of its dimensions") {
  CHECK(to_string(Shape{kBatch, kSequence + 1, 384}) == "[batch_size, sequence_length + 1, 384]");
  CHECK(to_string(Shape{}) == "[]");
  CHECK(to_string(Sizes{2, 3}) == "[2, 3]");
}

TEST_CASE("elements multiply, and a shape without axes has one") {
  CHECK(elements(Shape{kBatch, 2, kSequence}) == 2 * kBatch * kSequence);
  CHECK(elements(Shape{}) == Dim(1));
  CHECK(elements(Sizes{2, 3, 4}) == 24);
  CHECK(elements(Sizes{}) == 1);
  CHECK(elements(Sizes{INT64_MAX, 0, INT64_MAX}) == 0);
}

TEST_CASE("more elements than 64 bits count are an integrity error") {
  const auto caught = error_of([] { elements(Sizes{INT64_MAX, 2}); });
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("[9223372036854775807, 2]"));
}

TEST_CASE("shapes and sizes change into each other") {
  CHECK(to_sizes(to_shape(Sizes{1, 2})) == Sizes{1, 2});
  CHECK(error_of([] { to_sizes({1, kBatch}); }) == ErrorKind::internal);
}

TEST_CASE("broadcasting aligns at the end and stretches 1") {
  struct Row {
    Shape a, b, out;
  };
  const Row rows[] = {
      {{2, 3}, {2, 3}, {2, 3}},
      {{2, 1}, {1, 3}, {2, 3}},
      {{3}, {2, 3}, {2, 3}},
      {{}, {kBatch, 1}, {kBatch, 1}},
      {{kBatch, 1, 1, kSequence}, {kBatch, 12, kSequence, kSequence}, {kBatch, 12, kSequence, kSequence}},
      {{1, kSequence, 1}, {kBatch, 1, 8}, {kBatch, kSequence, 8}},
      {{0}, {1}, {0}},
  };
  for (const Row& row : rows) {
    CHECK(broadcast(row.a, row.b) == row.out);
    CHECK(broadcast(row.b, row.a) == row.out);
  }
}

TEST_CASE("shapes that do not broadcast are both named") {
  const auto caught = error_of([] { broadcast({2, 3}, {4, 3}); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("[2, 3] and [4, 3]"));
  CHECK(error_of([] { broadcast({kBatch}, {kSequence}); }) == ErrorKind::usage);
  CHECK(error_of([] { broadcast({kBatch}, {2}); }) == ErrorKind::usage);
  CHECK(error_of([] { broadcast({0}, {2}); }) == ErrorKind::usage);
}
