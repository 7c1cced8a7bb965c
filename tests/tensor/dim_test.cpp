#include "tensor/dim.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>

#include "support/error_of.h"

using namespace hf;
using hf::test::error_of;

namespace {

const Dim kBatch = Dim::symbol("batch_size"), kSequence = Dim::symbol("sequence_length"),
          kPast = Dim::symbol("past_sequence_length"), kA = Dim::symbol("a"), kB = Dim::symbol("b");

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return floor_div(Dim(a), Dim(b)).number(); }
std::int64_t mod_of(std::int64_t a, std::int64_t b) { return mod(Dim(a), Dim(b)).number(); }

}  // namespace

TEST_CASE("dimensions print as optimum names dynamic axes") {
  const std::pair<Dim, const char*> rows[] = {
      {0, "0"},
      {7, "7"},
      {-7, "-7"},
      {kBatch, "batch_size"},
      {kSequence + kPast, "past_sequence_length + sequence_length"},
      {kPast + 1, "past_sequence_length + 1"},
      {1 + kPast, "past_sequence_length + 1"},
      {kPast - 1, "past_sequence_length - 1"},
      {Dim(1) - kPast, "-past_sequence_length + 1"},
      {2 * kBatch, "2*batch_size"},
      {-2 * kB + kA, "a - 2*b"},
      {kB * kA, "a*b"},
      {3 * kA * kB * kA, "3*a*a*b"},
      {(kA + 1) * (kB + 2), "2*a + a*b + b + 2"},
      {floor_div(kSequence - 10, 5), "((sequence_length - 10) // 5)"},
      {floor_div(kSequence, 2), "(sequence_length // 2)"},
      {floor_div(2 * kSequence, 3), "(2*sequence_length // 3)"},
      {floor_div(kA, 2 * kB), "(a // (2*b))"},
      {mod(kA + kB, kA), "((a + b) % a)"},
      {min(kB, kA), "min(a, b)"},
      {max(kB * 2, kA + 1), "max(2*b, a + 1)"},
      {floor_div(floor_div(kSequence - 10, 5) - 3, 2), "((((sequence_length - 10) // 5) - 3) // 2)"},
      {floor_div(floor_div(kA, 2), 3), "((a // 2) // 3)"},
      {mod(min(kA, kB), 4), "(min(a, b) % 4)"},
      {2 * floor_div(kA, 2) + 1, "2*(a // 2) + 1"},
  };
  for (const auto& [dim, text] : rows) CHECK(dim.to_string() == text);
}

TEST_CASE("equal expressions are equal however they were put together") {
  CHECK(kA + kB == kB + kA);
  CHECK((kA + 1) * (kA - 1) == kA * kA - 1);
  CHECK(kA - kA == Dim(0));
  CHECK(kA * 0 == Dim(0));
  CHECK(2 * (kA + kB) - kB == kA + kB + kA);
  CHECK(kA * (kB + kPast) == kA * kPast + kB * kA);
  CHECK(floor_div(kB + kA, 2) == floor_div(kA + kB, 2));
  CHECK(min(kA, kB) == min(kB, kA));
  CHECK(max(kA, kB) == max(kB, kA));
  CHECK_FALSE(kA == kB);
  CHECK_FALSE(kA + 1 == kA);
  CHECK_FALSE(2 * kA == kA * kA);
  CHECK_FALSE(min(kA, kB) == max(kA, kB));
  Dim sum = kA;
  sum += kB;
  sum *= 2;
  CHECK(sum == 2 * kA + 2 * kB);
}

TEST_CASE("what divides exactly leaves no division") {
  CHECK(floor_div(6 * kA + 3 * kB, 3) == 2 * kA + kB);
  CHECK(floor_div(kA * kB, kA) == kB);
  CHECK(floor_div(4 * kA * kA * kB + 2 * kA, 2 * kA) == 2 * kA * kB + 1);
  CHECK(floor_div(kA, 1) == kA);
  CHECK(floor_div(kA + kB, kB + kA) == Dim(1));
  CHECK(floor_div(0, kA) == Dim(0));
  CHECK(mod(6 * kA + 3, 3) == Dim(0));
  CHECK(mod(kA, kA) == Dim(0));
  CHECK(mod(kA, 1) == Dim(0));
  CHECK_FALSE(floor_div(6 * kA + 1, 3) == 2 * kA);
  CHECK_FALSE(floor_div(kA, kA * kA) == kA);
}

TEST_CASE("min and max of expressions that differ by a number are known") {
  CHECK(min(kA, kA) == kA);
  CHECK(min(kA + 3, kA - 1) == kA - 1);
  CHECK(max(kA + 3, kA - 1) == kA + 3);
  CHECK(min(Dim(3), -2) == Dim(-2));
  CHECK(max(Dim(3), -2) == Dim(3));
}

TEST_CASE("division and modulo of numbers round as Python's") {
  CHECK(floor_of(7, 2) == 3);
  CHECK(floor_of(-7, 2) == -4);
  CHECK(floor_of(7, -2) == -4);
  CHECK(floor_of(-7, -2) == 3);
  CHECK(floor_of(-8, 2) == -4);
  CHECK(floor_of(0, -5) == 0);
  CHECK(mod_of(7, 3) == 1);
  CHECK(mod_of(-7, 3) == 2);
  CHECK(mod_of(7, -3) == -2);
  CHECK(mod_of(-7, -3) == -1);
  CHECK(mod_of(INT64_MIN, -1) == 0);
}

TEST_CASE("algebra agrees with numbers") {
  const std::function<Dim(const Dim&, const Dim&)> expressions[] = {
      [](const Dim& x, const Dim& y) { return x + y * 3 - 7; },
      [](const Dim& x, const Dim& y) { return (x - y) * (x + 2 * y) + 5; },
      [](const Dim& x, const Dim& y) { return floor_div(x * 4 + y, 3) - mod(y - x, 5); },
      [](const Dim& x, const Dim& y) { return floor_div(floor_div(x - 10, 5) + y, 2); },
      [](const Dim& x, const Dim& y) { return min(x, y * 2) * max(x - 3, y); },
      [](const Dim& x, const Dim& y) { return floor_div(6 * x * y + 2 * x, 2 * x); },
      [](const Dim& x, const Dim& y) { return mod(x * y + 1, -3) + min(x + 1, x); },
  };
  for (const auto& f : expressions) {
    const Dim symbolic = f(kA, kB);
    for (std::int64_t a = -9; a <= 9; ++a) {
      if (a == 0) continue;  // x / x is taken as 1
      for (std::int64_t b = -4; b <= 12; ++b) {
        CHECK(symbolic.evaluate({{"a", a}, {"b", b}}) == f(a, b).number());
        CHECK(symbolic.substitute({{"b", b}}) == f(kA, b));
      }
    }
  }
}

TEST_CASE("symbols without a value stay, and are named where a number is needed") {
  const Dim dim = kBatch * floor_div(kSequence, 2) + kBatch;
  CHECK(dim.substitute({{"batch_size", 3}}) == 3 * floor_div(kSequence, 2) + 3);
  CHECK(dim.substitute({}) == dim);
  const auto missing = error_of([&] { dim.evaluate({{"batch_size", 3}}); });
  CHECK(missing == ErrorKind::usage);
  CHECK(missing.says("sequence_length has no value"));
  CHECK(error_of([] { kBatch.number(); }) == ErrorKind::internal);
  std::vector<std::string> names{"x"};
  dim.collect_symbols(names);
  CHECK(names == std::vector<std::string>{"x", "sequence_length", "batch_size"});
  CHECK(dim.to_string() == "(sequence_length // 2)*batch_size + batch_size");
}

TEST_CASE("a division by zero is a usage error, also when it shows late") {
  CHECK(error_of([] { floor_div(kA, 0); }) == ErrorKind::usage);
  CHECK(error_of([] { mod(kA, 0); }) == ErrorKind::usage);
  CHECK(error_of([] { floor_div(kA, kB).evaluate({{"a", 1}, {"b", 0}}); }) == ErrorKind::usage);
  CHECK(error_of([] { mod(kA, kB).evaluate({{"a", 1}, {"b", 0}}); }) == ErrorKind::usage);
}

TEST_CASE("numbers that leave 64 bits are integrity errors") {
  const Dim largest = INT64_MAX, smallest = INT64_MIN;
  CHECK(error_of([&] { largest + 1; }) == ErrorKind::integrity);
  CHECK(error_of([&] { smallest - 1; }) == ErrorKind::integrity);
  CHECK(error_of([&] { largest * 2; }) == ErrorKind::integrity);
  CHECK(error_of([&] { Dim(0) - smallest; }) == ErrorKind::integrity);
  CHECK(error_of([&] { floor_div(smallest, -1); }) == ErrorKind::integrity);
  CHECK(error_of([&] { floor_div(smallest * kA, -1); }) == ErrorKind::integrity);
  CHECK(error_of([&] { (kA * kA).evaluate({{"a", INT64_MAX}}); }) == ErrorKind::integrity);
  CHECK((kA + smallest).to_string() == "a - 9223372036854775808");
}

TEST_CASE("an expression that grows without end is an integrity error") {
  CHECK(error_of([] {
          Dim dim = kA;
          for (int i = 0; i < 10'000; ++i) dim = floor_div(dim + 1, 2);
        }) == ErrorKind::integrity);
  CHECK(error_of([] {
          Dim dim = kA;
          for (int i = 0; i < 64; ++i) dim = mod(dim * dim + kB, 7);
        }) == ErrorKind::integrity);
  CHECK(error_of([] {
          Dim dim = kA;
          for (int i = 0; i < 64; ++i) dim = dim * dim + Dim::symbol("s" + std::to_string(i));
        }) == ErrorKind::integrity);
}
