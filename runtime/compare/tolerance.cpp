#include "runtime/compare/tolerance.h"

#include <algorithm>
#include <cmath>

namespace hf::runtime {

double Tolerance::at(double reference) const { return std::max(absolute, relative * std::abs(reference)); }

Tolerance default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {0x1p-53 * 160, 0x1p-53 * 16};
    case DType::f32:
      return {1e-5, 1e-6};
    case DType::f16:
      return {0x1p-11 * 16, 0x1p-11 * 16};
    case DType::bf16:
      return {0x1p-8 * 16, 0x1p-8 * 16};
    default:
      return {0, 0};
  }
}

Tolerance raised_to_noise(Tolerance tolerance, double noise) {
  tolerance.absolute = std::max(tolerance.absolute, 3 * noise);
  return tolerance;
}

}  // namespace hf::runtime
