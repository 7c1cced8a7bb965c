// How a tensor differs from the one that it should be.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/compare/tolerance.h"
#include "tensor/tensor.h"

namespace hf::runtime {

struct Metrics {
  std::int64_t elements = 0;
  double max_absolute = 0, mean_absolute = 0;
  // |a - r| / |r| over the elements with |r| above the absolute tolerance: below it a ratio says nothing.
  double max_relative = 0, mean_relative = 0;
  double cosine = 1;  // of the two as vectors; 1 for two zero vectors
  // Rows along the last axis whose greatest element is the same one, as a share; where asked for.
  std::optional<double> argmax_agreement;
  std::int64_t beyond = 0;  // elements outside the tolerance, the not finite ones among them
  std::int64_t worst = -1;  // the element that exceeds its tolerance most, else differs most
  double worst_actual = 0, worst_reference = 0;
  std::int64_t not_finite = 0;            // NaN, or infinite and not the reference's infinity
  std::int64_t reference_not_finite = 0;  // NaN in the reference: it can confirm nothing
};

// Both have one shape; values of any dtype are compared in fp64.
Metrics measure(const TensorView& actual, const TensorView& reference, const Tolerance& tolerance,
                bool with_argmax);

// Element number `at` of a tensor of `shape` as "[0, 3, 17]".
std::string index_of(std::int64_t at, const Sizes& shape);

}  // namespace hf::runtime
