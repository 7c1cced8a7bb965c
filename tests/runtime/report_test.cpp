#include "runtime/compare/report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "run_op.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::runtime;
using hf::test::error_of;
using hf::test::tensor;

namespace {

Results results(std::vector<std::pair<std::string, Tensor>> outputs,
                std::vector<std::pair<std::string, Tensor>> observed = {}) {
  Results out;
  for (auto& [name, value] : outputs) out.outputs.push_back({name, std::move(value)});
  for (auto& [name, value] : observed) out.observed.push_back({name, std::move(value)});
  return out;
}

std::vector<std::pair<std::string, Tensor>> one(std::string name, Tensor value) {
  std::vector<std::pair<std::string, Tensor>> out;
  out.emplace_back(std::move(name), std::move(value));
  return out;
}

Tensor row(double a, double b) { return tensor(DType::f32, {1, 2}, {a, b}); }

}  // namespace

TEST_CASE("equal results pass") {
  const Tensor r = row(1, 2);
  const Report report = compare(results(one("logits", row(1, 2))), {{{"logits", r.view()}}, {}, {}});
  CHECK(report.passed());
  CHECK(report.first_divergence() == nullptr);
  REQUIRE(report.outputs.size() == 1);
  CHECK(report.outputs[0].metrics.argmax_agreement == 1.0);
}

TEST_CASE("a difference fails and is named with place and values") {
  const Tensor r = row(1, 2);
  const Report report = compare(results(one("logits", row(1, 2.5))), {{{"logits", r.view()}}, {}, {}});
  REQUIRE_FALSE(report.passed());
  CHECK(report.first_divergence()->problem ==
        "1 of 2 values are beyond the tolerance, worst [0, 1] is 2.5 instead of 2");
}

TEST_CASE("the first layer that fails is the first divergence, before any output") {
  const Tensor r = row(1, 2);
  std::vector<std::pair<std::string, Tensor>> layers;
  for (int i = 0; i < 3; ++i)
    layers.emplace_back("hidden_states." + std::to_string(i), row(1, i == 0 ? 2 : 3));
  const Report report =
      compare(results(one("logits", row(0, 0)), std::move(layers)), {{{"logits", r.view()},
                                                                      {"hidden_states.0", r.view()},
                                                                      {"hidden_states.1", r.view()},
                                                                      {"hidden_states.2", r.view()}},
                                                                     {},
                                                                     {}});
  CHECK(report.layers.size() == 3);
  REQUIRE(report.first_divergence() != nullptr);
  CHECK(report.first_divergence()->name == "hidden_states.1");
}

TEST_CASE("recorded noise and an own tolerance move the bound") {
  const Tensor r = row(1, 2);
  const auto off = [] { return results(one("y", row(1, 2 + 5e-5))); };
  CHECK_FALSE(compare(off(), {{{"y", r.view()}}, {}, {}}).passed());
  CHECK(compare(off(), {{{"y", r.view()}}, {{"y", 2e-5}}, {}}).passed());
  CHECK(compare(off(), {{{"y", r.view()}}, {}, 1e-4}).passed());
  CHECK_FALSE(compare(off(), {{{"y", r.view()}}, {{"y", 2e-5}}, 1e-6}).passed());
}

TEST_CASE("a tolerance for floats does not let integers differ") {
  const Tensor r = tensor(DType::i64, {1}, {4});
  CHECK_FALSE(
      compare(results(one("ids", tensor(DType::i64, {1}, {5}))), {{{"ids", r.view()}}, {}, 10.0}).passed());
}

TEST_CASE("NaN fails by name, in the model or in the reference") {
  const Tensor r = row(1, 2), bad = row(1, NAN);
  const Report model = compare(results(one("y", row(NAN, 2))), {{{"y", r.view()}}, {}, 1e9});
  REQUIRE_FALSE(model.passed());
  CHECK(model.first_divergence()->problem == "1 of 2 values are NaN or infinite, [0, 0] is nan instead of 1");
  const Report reference = compare(results(one("y", row(1, NAN))), {{{"y", bad.view()}}, {}, {}});
  REQUIRE_FALSE(reference.passed());
  CHECK(reference.first_divergence()->problem == "the reference has NaN in 1 of 2 values");
}

TEST_CASE("another shape or kind of number fails with a sentence") {
  const Tensor wide = tensor(DType::f32, {1, 3}, {1, 2, 3}), ids = tensor(DType::i64, {1, 2}, {1, 2});
  CHECK(compare(results(one("y", row(1, 2))), {{{"y", wide.view()}}, {}, {}}).outputs[0].problem ==
        "has shape [1, 2], the reference has [1, 3]");
  CHECK(compare(results(one("y", row(1, 2))), {{{"y", ids.view()}}, {}, {}}).outputs[0].problem ==
        "is fp32, the reference is int64");
}

TEST_CASE("what only one side has is told, not judged") {
  const Tensor r = row(1, 2);
  auto outputs = one("y", row(1, 2));
  outputs.emplace_back("extra", row(0, 0));
  const Report report =
      compare(results(std::move(outputs)), {{{"y", r.view()}, {"pooler_output", r.view()}}, {}, {}});
  CHECK(report.passed());
  CHECK(report.only_model == std::vector<std::string>{"extra"});
  CHECK(report.only_reference == std::vector<std::string>{"pooler_output"});
}

TEST_CASE("no output in common is an error that names both sides") {
  const Tensor r = row(1, 2);
  const auto caught = error_of([&] { compare(results(one("y", row(1, 2))), {{{"z", r.view()}}, {}, {}}); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("the model has y, the reference z"));
}

TEST_CASE("the report as JSON holds numbers that JSON lacks as text") {
  const Tensor r = row(1, 2);
  const Report report = compare(results(one("logits", row(1, NAN))), {{{"logits", r.view()}}, {}, {}});
  const nlohmann::json json = nlohmann::json::parse(to_json(report).dump());
  CHECK(json["passed"] == false);
  CHECK(json["first_divergence"] == "logits");
  CHECK(json["outputs"][0]["worst"]["actual"] == "NaN");
  CHECK(json["outputs"][0]["worst"]["index"] == "[0, 1]");
  CHECK(json["outputs"][0]["not_finite"] == 1);
  CHECK(json["outputs"][0]["tolerance"]["absolute"] == 1e-5);
}
