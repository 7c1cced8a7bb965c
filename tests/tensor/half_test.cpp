#include "tensor/half.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

using namespace hf;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of IEEE 754's formula: sign, `exponent_bits` of exponent, the rest fraction.
double by_definition(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

// Each half widens to its definition and comes back; between two neighbours, what lies below the middle
// rounds down, what lies above rounds up, and the middle goes to the even one. So every float is decided.
template <class Widen, class Narrow>
int wrong_conversions(int exponent_bits, Widen widen, Narrow narrow) {
  int wrong = 0;
  const std::uint16_t infinity =
      static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << (15 - exponent_bits));
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = widen(bits);
    const double expected = by_definition(bits, exponent_bits);
    if (std::isnan(expected)) {
      wrong += !std::isnan(value) || !std::isnan(widen(narrow(value))) ||
               std::signbit(value) != ((bits & 0x8000) != 0);
      continue;
    }
    wrong += value != expected || std::signbit(value) != std::signbit(expected) || narrow(value) != bits;
    if ((bits & 0x7FFF) >= infinity - 1) continue;  // behind the largest: a test of its own
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const auto middle = static_cast<float>((expected + by_definition(next, exponent_bits)) / 2);
    const float away = std::copysign(kInfinity, value);
    wrong += narrow(middle) != ((bits & 1) == 0 ? bits : next);
    wrong += narrow(std::nextafter(middle, 0.0f)) != bits;
    wrong += narrow(std::nextafter(middle, away)) != next;
  }
  return wrong;
}

}  // namespace

TEST_CASE("every fp16 widens exactly, every float narrows to the nearest, ties to even") {
  CHECK(wrong_conversions(5, f16_to_f32, f32_to_f16) == 0);
}

TEST_CASE("every bf16 widens exactly, every float narrows to the nearest, ties to even") {
  CHECK(wrong_conversions(8, bf16_to_f32, f32_to_bf16) == 0);
}

TEST_CASE("the largest values, and what rounds to infinity") {
  CHECK(f32_to_f16(65504.0f) == 0x7BFF);
  CHECK(f32_to_f16(std::nextafter(65520.0f, 0.0f)) == 0x7BFF);
  CHECK(f32_to_f16(65520.0f) == 0x7C00);
  CHECK(f32_to_f16(-kInfinity) == 0xFC00);
  CHECK(f32_to_f16(1e30f) == 0x7C00);
  CHECK(f32_to_bf16(std::bit_cast<float>(0x7F7F7FFFu)) == 0x7F7F);
  CHECK(f32_to_bf16(std::bit_cast<float>(0x7F7F8000u)) == 0x7F80);
  CHECK(f32_to_bf16(-kInfinity) == 0xFF80);
}

TEST_CASE("what is too small becomes zero with its sign") {
  CHECK(f32_to_f16(0x1p-25f) == 0);
  CHECK(f32_to_f16(std::nextafter(0x1p-25f, 1.0f)) == 1);
  CHECK(f32_to_f16(-1e-30f) == 0x8000);
  CHECK(f32_to_bf16(-std::numeric_limits<float>::denorm_min()) == 0x8000);
}

TEST_CASE("a NaN stays one, whatever bits it loses") {
  for (const std::uint32_t bits : {0x7F800001u, 0xFF800001u, 0x7FC00000u, 0x7FFFFFFFu, 0x7F80FFFFu}) {
    const auto nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(f16_to_f32(f32_to_f16(nan))));
    CHECK(std::isnan(bf16_to_f32(f32_to_bf16(nan))));
  }
}
