// How far two numbers may be apart and still be the same result.
#pragma once
#include "tensor/dtype.h"

namespace hf::runtime {

// A value a is right for a reference r where |a - r| <= max(absolute, relative * |r|).
struct Tolerance {
  double absolute = 0;
  double relative = 0;

  double at(double reference) const;
};

// What two correct implementations may differ by, of which the coarser computes in `dtype`.
//
// u is the dtype's unit roundoff (fp32 2^-24, fp16 2^-11, bf16 2^-8, fp64 2^-53). A normalized value is of
// the order of 1 and the end of some ten additions that cancel in part; sums of a few hundred terms add
// errors of sqrt(hundreds) u, about 16 u, and a score's error is multiplied by the layers behind it. In fp32
// transformers and its own fp64 run differ by 1e-6 to 1e-5 on small models (u times 16 to 160), hence:
//
//   fp32  absolute 1e-5 (160 u)   relative 1e-6 (16 u): it counts for values above 10
//   fp64  absolute 160 u          relative 16 u
//   fp16, bf16                    both 16 u: rounding the result dominates
//   integers, bool                equal
Tolerance default_tolerance(DType dtype);

// Three times the noise that was measured between fp32 and fp64 of the reference's own implementation, where
// that is more: two fp32 results scatter around the exact one, each about as far as the noise.
Tolerance raised_to_noise(Tolerance tolerance, double noise);

}  // namespace hf::runtime
