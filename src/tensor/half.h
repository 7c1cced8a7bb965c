// fp16 and bf16, converted in software: IEEE 754 binary16 and the upper half of binary32, rounding to nearest
// even.
#pragma once
#include <cstdint>

namespace hf {

float f16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);  // above 65504 becomes infinity
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_bf16(float value);

}  // namespace hf
