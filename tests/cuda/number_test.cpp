#include "runtime/cuda/number.cuh"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "emulator/cuda_emulator.h"
#include "tensor/half.h"

using namespace hf;
using namespace hf::runtime::cuda;

TEST_CASE("bf16 rounds as the tensor room rounds it") {
  for (std::uint32_t i = 0; i < 100000; ++i) {
    const std::uint32_t bits = i * 42949u;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) {
      CHECK(std::isnan(widened(narrowed<Brain>(value))));
      continue;
    }
    REQUIRE(narrowed<Brain>(value).bits == f32_to_bf16(value));
  }
}

TEST_CASE("every bf16 widens to the float it is the upper half of") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = widened(Brain{static_cast<std::uint16_t>(bits)});
    if (!std::isnan(value)) REQUIRE(value == bf16_to_f32(static_cast<std::uint16_t>(bits)));
  }
}

TEST_CASE("a NaN stays one in bf16, whatever its payload") {
  for (const std::uint32_t bits : {0x7fffffffu, 0x7f800001u, 0xffffffffu}) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    CHECK(std::isnan(widened(narrowed<Brain>(value))));
  }
}

TEST_CASE("any byte but zero is true and is stored as one") {
  CHECK(widened(Truth{2}));
  CHECK_FALSE(widened(Truth{0}));
  CHECK(narrowed<Truth>(widened(Truth{200})).byte == 1);
}

TEST_CASE("a dtype outside the list has no element type") {
  CHECK_FALSE(with_element(Floats{}, DType::f64, [](auto) {}));
  CHECK_FALSE(with_bytes(3, [](auto) {}));
}
