#include "runtime/compare/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/escape.h"

namespace hf::runtime {
namespace {

// The dtype whose rounding decides how near two results can be.
DType coarser(DType a, DType b) {
  return default_tolerance(a).absolute >= default_tolerance(b).absolute ? a : b;
}

// Scores that a choice is made from; the greatest element of a hidden state means nothing.
bool is_choice(std::string_view name, const TensorView& value) {
  return name.find("logits") != std::string_view::npos && is_float(value.dtype) && !value.shape.empty() &&
         value.shape.back() > 1;
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string elements_of(std::int64_t count, std::int64_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + " values";
}

std::string problem_of(const Comparison& c) {
  const Metrics& m = c.metrics;
  if (m.reference_not_finite > 0)
    return "the reference has NaN in " + elements_of(m.reference_not_finite, m.elements);
  if (m.beyond == 0) return {};
  const std::string worst =
      index_of(m.worst, c.shape) + " is " + shown(m.worst_actual) + " instead of " + shown(m.worst_reference);
  if (m.not_finite > 0) return elements_of(m.not_finite, m.elements) + " are NaN or infinite, " + worst;
  return elements_of(m.beyond, m.elements) + " are beyond the tolerance, worst " + worst;
}

Comparison compare_one(const NamedTensor& actual, const TensorView& reference, const Expected& expected) {
  const TensorView value = actual.tensor.view();
  Comparison out;
  out.name = actual.name;
  out.shape = value.shape;
  out.tolerance = default_tolerance(coarser(value.dtype, reference.dtype));
  if (is_float(value.dtype) != is_float(reference.dtype)) {
    out.problem = "is " + std::string(name_of(value.dtype)) + ", the reference is " +
                  std::string(name_of(reference.dtype));
    return out;
  }
  if (value.shape != reference.shape) {
    out.problem = "has shape " + to_string(value.shape) + ", the reference has " + to_string(reference.shape);
    return out;
  }
  if (expected.tolerance && is_float(value.dtype))
    out.tolerance = {*expected.tolerance, 0};
  else if (const auto noise = expected.noise.find(actual.name); noise != expected.noise.end())
    out.tolerance = raised_to_noise(out.tolerance, noise->second);
  out.metrics = measure(value, reference, out.tolerance, is_choice(actual.name, value));
  out.problem = problem_of(out);
  return out;
}

nlohmann::json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";  // JSON has no such numbers
}

nlohmann::json to_json(const Comparison& c) {
  nlohmann::json out{{"name", c.name},
                     {"passed", c.passed()},
                     {"shape", c.shape},
                     {"tolerance", {{"absolute", c.tolerance.absolute}, {"relative", c.tolerance.relative}}},
                     {"max_absolute_error", number(c.metrics.max_absolute)},
                     {"mean_absolute_error", number(c.metrics.mean_absolute)},
                     {"max_relative_error", number(c.metrics.max_relative)},
                     {"mean_relative_error", number(c.metrics.mean_relative)},
                     {"cosine", number(c.metrics.cosine)},
                     {"elements", c.metrics.elements},
                     {"beyond_tolerance", c.metrics.beyond},
                     {"not_finite", c.metrics.not_finite}};
  if (c.metrics.argmax_agreement) out["argmax_agreement"] = *c.metrics.argmax_agreement;
  if (c.metrics.worst >= 0)
    out["worst"] = {{"index", index_of(c.metrics.worst, c.shape)},
                    {"actual", number(c.metrics.worst_actual)},
                    {"reference", number(c.metrics.worst_reference)}};
  if (!c.passed()) out["problem"] = c.problem;
  return out;
}

}  // namespace

const Comparison* Report::first_divergence() const {
  for (const auto* list : {&layers, &outputs}) {
    const auto at = std::find_if(list->begin(), list->end(), [](const Comparison& c) { return !c.passed(); });
    if (at != list->end()) return &*at;
  }
  return nullptr;
}

bool Report::passed() const { return first_divergence() == nullptr; }

Report compare(const Results& actual, const Expected& expected) {
  Report report;
  std::set<std::string, std::less<>> known;
  for (const NamedTensor& value : actual.observed) {
    known.insert(value.name);
    if (const auto at = expected.values.find(value.name); at != expected.values.end())
      report.layers.push_back(compare_one(value, at->second, expected));
  }
  for (const NamedTensor& value : actual.outputs) {
    known.insert(value.name);
    if (const auto at = expected.values.find(value.name); at != expected.values.end())
      report.outputs.push_back(compare_one(value, at->second, expected));
    else
      report.only_model.push_back(value.name);
  }
  for (const auto& [name, value] : expected.values)
    if (!known.contains(name)) report.only_reference.push_back(name);
  if (report.outputs.empty()) {
    std::string have, want;
    for (const NamedTensor& value : actual.outputs) have += (have.empty() ? "" : ", ") + escaped(value.name);
    for (const auto& [name, value] : expected.values) want += (want.empty() ? "" : ", ") + escaped(name);
    throw Error(ErrorKind::usage, "no output is in both: the model has " + have + ", the reference " + want);
  }
  return report;
}

nlohmann::json to_json(const Report& report) {
  nlohmann::json out{{"passed", report.passed()}, {"outputs", nlohmann::json::array()}};
  for (const Comparison& c : report.outputs) out["outputs"].push_back(to_json(c));
  for (const Comparison& c : report.layers) out["layers"].push_back(to_json(c));
  if (const Comparison* first = report.first_divergence()) out["first_divergence"] = first->name;
  out["only_in_reference"] = report.only_reference;
  out["only_in_model"] = report.only_model;
  return out;
}

nlohmann::json to_json(const MemoryReport& memory) {
  return {{"weight_bytes", memory.weight_bytes},
          {"mapped_bytes", memory.mapped_bytes},
          {"activation_bytes_planned", memory.planned_bytes},
          {"activation_bytes_measured", memory.measured_bytes},
          {"activation_bytes_unplanned", memory.unplanned_bytes}};
}

}  // namespace hf::runtime
