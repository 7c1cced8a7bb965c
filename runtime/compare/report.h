// The verdict on a model's results: value by value, and where they part first.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compare/metrics.h"
#include "runtime/session/session.h"

namespace hf::runtime {

struct Comparison {
  std::string name;
  Sizes shape;
  Tolerance tolerance;
  Metrics metrics;
  std::string problem;  // why it fails, as a sentence; empty where it passes
  bool passed() const { return problem.empty(); }
};

struct Report {
  std::vector<Comparison> layers;   // values inside the model, in its order; empty unless they were observed
  std::vector<Comparison> outputs;  // in the model's order
  std::vector<std::string> only_reference;  // outputs that the model does not have: not compared
  std::vector<std::string> only_model;      // outputs that the reference does not have

  bool passed() const;
  // The first layer, else output, that fails. Null where all pass.
  const Comparison* first_divergence() const;
};

struct Expected {
  std::map<std::string, TensorView, std::less<>> values;  // outputs and, by their names, values inside
  std::map<std::string, double, std::less<>> noise;       // raises an output's tolerance
  std::optional<double> tolerance;                        // absolute, instead of the dtype's and the noise
};

// Compares what both have. Throws Error{usage} where no output is common to both.
Report compare(const Results& actual, const Expected& expected);

nlohmann::json to_json(const Report& report);
nlohmann::json to_json(const MemoryReport& memory);

}  // namespace hf::runtime
