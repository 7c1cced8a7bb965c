#include "runtime/compare/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hf::runtime {
namespace {

// Sums and extremes, element by element.
class Meter {
 public:
  Meter(const Tolerance& tolerance, Metrics& metrics) : tolerance_(tolerance), m_(metrics) {}

  void add(std::int64_t at, double actual, double reference) {
    if (std::isnan(reference)) ++m_.reference_not_finite;
    if (!std::isfinite(actual) || !std::isfinite(reference)) return add_not_finite(at, actual, reference);
    const double error = std::abs(actual - reference), allowed = tolerance_.at(reference);
    m_.max_absolute = std::max(m_.max_absolute, error);
    absolute_sum_ += error;
    if (std::abs(reference) > tolerance_.absolute) {
      const double relative = error / std::abs(reference);
      m_.max_relative = std::max(m_.max_relative, relative);
      relative_sum_ += relative;
      ++relative_count_;
    }
    if (!(error <= allowed)) ++m_.beyond;
    // Integers have a tolerance of zero: any error is infinitely beyond it, and the greatest counts.
    note(at, actual, reference, allowed > 0 ? error / allowed : error);
    dot_ += actual * reference;
    actual_squared_ += actual * actual;
    reference_squared_ += reference * reference;
    ++finite_;
  }

  void finish() {
    if (finite_ > 0) m_.mean_absolute = absolute_sum_ / static_cast<double>(finite_);
    if (relative_count_ > 0) m_.mean_relative = relative_sum_ / static_cast<double>(relative_count_);
    const double norms = std::sqrt(actual_squared_) * std::sqrt(reference_squared_);
    if (norms > 0)
      m_.cosine = std::clamp(dot_ / norms, -1.0, 1.0);
    else if (actual_squared_ != reference_squared_)
      m_.cosine = 0;
  }

 private:
  // The same infinity in both is a value like another, as a score that is masked out.
  void add_not_finite(std::int64_t at, double actual, double reference) {
    if (actual == reference) return;
    if (!std::isfinite(actual)) ++m_.not_finite;
    ++m_.beyond;
    note(at, actual, reference, HUGE_VAL);
  }

  void note(std::int64_t at, double actual, double reference, double excess) {
    if (m_.worst >= 0 && excess <= worst_excess_) return;
    worst_excess_ = excess;
    m_.worst = at;
    m_.worst_actual = actual;
    m_.worst_reference = reference;
  }

  const Tolerance tolerance_;
  Metrics& m_;
  double absolute_sum_ = 0, relative_sum_ = 0, dot_ = 0, actual_squared_ = 0, reference_squared_ = 0;
  double worst_excess_ = 0;
  std::int64_t relative_count_ = 0, finite_ = 0;
};

std::int64_t first_greatest(std::span<const double> row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

double argmax_agreement(std::span<const double> actual, std::span<const double> reference,
                        std::size_t width) {
  const std::size_t rows = actual.size() / width;
  std::size_t same = 0;
  for (std::size_t row = 0; row < rows; ++row)
    same += first_greatest(actual.subspan(row * width, width)) ==
            first_greatest(reference.subspan(row * width, width));
  return static_cast<double>(same) / static_cast<double>(rows);
}

}  // namespace

Metrics measure(const TensorView& actual, const TensorView& reference, const Tolerance& tolerance,
                bool with_argmax) {
  if (actual.shape != reference.shape)
    throw Error(ErrorKind::internal, "measure: shapes " + to_string(actual.shape) + " and " +
                                         to_string(reference.shape) + " differ");
  Metrics metrics;
  metrics.elements = actual.size();
  // In pieces of whole rows: two copies in fp64 of a large vocabulary's logits need not be there at once.
  const auto width =
      static_cast<std::size_t>(actual.shape.empty() ? 1 : std::max<std::int64_t>(1, actual.shape.back()));
  const std::size_t rows = static_cast<std::size_t>(metrics.elements) / width;
  const std::size_t step = std::max<std::size_t>(1, (std::size_t{1} << 16) / width);
  const std::size_t actual_width = size_of(actual.dtype), reference_width = size_of(reference.dtype);
  std::vector<double> a, r;
  Meter meter(tolerance, metrics);
  double agreeing = 0;
  for (std::size_t row = 0; row < rows; row += step) {
    const std::size_t begin = row * width, count = std::min(step, rows - row) * width;
    a.resize(count);
    r.resize(count);
    convert(actual.bytes.subspan(begin * actual_width, count * actual_width), actual.dtype,
            std::as_writable_bytes(std::span(a)), DType::f64);
    convert(reference.bytes.subspan(begin * reference_width, count * reference_width), reference.dtype,
            std::as_writable_bytes(std::span(r)), DType::f64);
    for (std::size_t i = 0; i < count; ++i) meter.add(static_cast<std::int64_t>(begin + i), a[i], r[i]);
    if (with_argmax) agreeing += argmax_agreement(a, r, width) * static_cast<double>(count / width);
  }
  meter.finish();
  if (with_argmax && rows > 0) metrics.argmax_agreement = agreeing / static_cast<double>(rows);
  return metrics;
}

std::string index_of(std::int64_t at, const Sizes& shape) {
  Sizes index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return to_string(index);
}

}  // namespace hf::runtime
