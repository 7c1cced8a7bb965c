// Test data of every float type, and what counts as equal in each.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "emulator/cuda_emulator.h"
#include "runtime/cuda/number.cuh"

namespace hf::test {

// Numbers in [low, high), the same for the same arguments.
inline std::vector<float> numbers(std::int64_t count, float low = -3, float high = 3, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = low + (high - low) * static_cast<float>(random() % 100003u) / 100003.0f;
  return values;
}

template <class T>
std::vector<T> stored(const std::vector<float>& values) {
  std::vector<T> result;
  for (const float v : values) result.push_back(runtime::cuda::Narrow<T>::from(v));
  return result;
}
template <class T>
std::vector<double> read(const std::vector<T>& values) {
  std::vector<double> result;
  for (const T v : values) result.push_back(static_cast<double>(runtime::cuda::widened(v)));
  return result;
}

// One step of rounding, relative to 1 or to the value, with room for a kernel's own few steps in fp32.
template <class T>
constexpr double tolerance() {
  if constexpr (std::is_same_v<T, runtime::cuda::Half>) return 1.0 / 1024;
  if constexpr (std::is_same_v<T, runtime::cuda::Brain>) return 1.0 / 128;
  return 2e-6;
}

// "" where all agree, else the first that does not.
inline std::string difference(const std::vector<double>& got, const std::vector<double>& wanted,
                              double tolerance) {
  if (got.size() != wanted.size()) return "lengths differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(wanted[i]);
    if (both_nan || got[i] == wanted[i]) continue;
    if (!(std::abs(got[i] - wanted[i]) <= tolerance * std::max(1.0, std::abs(wanted[i]))))
      return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
             std::to_string(wanted[i]);
  }
  return "";
}

// f(Element<T>{}) for fp32, fp16 and bf16, each under several orders of threads.
template <class F>
void for_float_types(F&& f) {
  for (const std::uint64_t seed : {1, 20, 300}) {
    emulator::seed(seed);
    f(runtime::cuda::Element<float>{});
    f(runtime::cuda::Element<runtime::cuda::Half>{});
    f(runtime::cuda::Element<runtime::cuda::Brain>{});
  }
}

}  // namespace hf::test
