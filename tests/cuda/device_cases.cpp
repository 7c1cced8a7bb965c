#include "cuda/device_cases.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "arch/arch.h"
#include "base/file.h"
#include "runtime/compare/reference.h"
#include "runtime/compare/report.h"
#include "runtime/session/session.h"

namespace hf::test {

Tensor floats(Sizes shape, float shift) {
  Tensor t(DType::f32, std::move(shape));
  std::uint32_t state = 12345u + static_cast<std::uint32_t>(t.size());
  for (float& v : t.as<float>()) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / static_cast<float>(1u << 22) - 2 + shift;
  }
  return t;
}
Tensor integers(Sizes shape, std::int64_t below) {
  Tensor t(DType::i64, std::move(shape));
  std::int64_t next = 5;
  for (std::int64_t& v : t.as<std::int64_t>()) v = (next = next * 31 % 1009) % below;
  return t;
}
namespace {

Tensor truths(Sizes shape) { return converted(integers(std::move(shape), 2).view(), DType::boolean); }

void add_elementwise(std::vector<OpCase>& cases) {
  for (const auto kind : {Unary::negate, Unary::absolute, Unary::exp, Unary::erf, Unary::tanh, Unary::sigmoid,
                          Unary::relu, Unary::sin, Unary::cos})
    cases.push_back({std::string(name_of(kind)), Unary{kind}, list(floats({3, 171}))});
  for (const auto kind : {Unary::log, Unary::sqrt, Unary::reciprocal})
    cases.push_back({std::string(name_of(kind)), Unary{kind}, list(floats({3, 171}, 2.5f))});
  cases.push_back({"logical_not", Unary{Unary::logical_not}, list(truths({77}))});
  for (const auto kind : {Binary::add, Binary::subtract, Binary::multiply, Binary::divide, Binary::power,
                          Binary::minimum, Binary::maximum})
    cases.push_back(
        {std::string(name_of(kind)), Binary{kind}, list(floats({2, 3, 1, 17}, 2.5f), floats({5, 17}, 2.5f))});
  cases.push_back({"add of one shape", Binary{Binary::add}, list(floats({40, 33}), floats({40, 33}))});
  cases.push_back({"divide of integers", Binary{Binary::divide},
                   list(integers({9, 4}, 50), Tensor::scalar(std::int64_t{7}))});
  for (const auto kind : {Binary::logical_and, Binary::logical_or})
    cases.push_back({std::string(name_of(kind)), Binary{kind}, list(truths({6, 1}), truths({7}))});
  for (const auto kind :
       {Compare::equal, Compare::less, Compare::less_or_equal, Compare::greater, Compare::greater_or_equal})
    cases.push_back({std::string(name_of(kind)), Compare{kind}, list(integers({6, 1}, 5), integers({8}, 5))});
  cases.push_back({"where", Where{}, list(truths({4, 1, 9}), floats({5, 1}), floats({}))});
  for (const DType to : {DType::i64, DType::i32, DType::boolean})
    cases.push_back({"cast to " + std::string(name_of(to)), Cast{to}, list(floats({3, 50}))});
  cases.push_back({"cast of bool", Cast{DType::f32}, list(truths({3, 50}))});
  for (const auto kind : {Gelu::erf, Gelu::tanh})
    cases.push_back({"gelu", Gelu{kind}, list(floats({7, 90}))});
}

void add_movement(std::vector<OpCase>& cases) {
  cases.push_back({"reshape", Reshape{{6, -1}}, list(floats({2, 3, 8}))});
  cases.push_back({"transpose", Transpose{{2, 0, 3, 1}}, list(floats({2, 3, 5, 7}))});
  cases.push_back({"transpose of bool", Transpose{{1, 0}}, list(truths({5, 7}))});
  cases.push_back({"transpose of int64", Transpose{{1, 0}}, list(integers({5, 7}, 99))});
  cases.push_back({"slice", Slice{1, 2, 7}, list(floats({3, 9, 4}))});
  cases.push_back({"slice by steps", Slice{1, 1, 8, 3}, list(floats({3, 9, 4}))});
  cases.push_back({"empty slice", Slice{0, 2, 2}, list(floats({3, 9}))});
  cases.push_back({"concat", Concat{1},
                   list(floats({2, 3, 4}), floats({2, 1, 4}), floats({2, 0, 4}), floats({2, 5, 4}))});
  cases.push_back({"expand", Expand{{4, 3, 5}}, list(floats({3, 1}))});
  cases.push_back({"range", Range{-2, 300}, {}});
  cases.push_back({"gather", Gather{0}, list(floats({11, 24}), integers({2, 5}, 11))});
  cases.push_back({"gather inside", Gather{1}, list(floats({3, 11, 4}), integers({6}, 11))});
  cases.push_back({"gather one", Gather{1}, list(integers({3, 11}, 50), Tensor::scalar(std::int64_t{4}))});
}

void add_lines(std::vector<OpCase>& cases) {
  cases.push_back({"softmax", Softmax{2}, list(floats({2, 3, 37}))});
  cases.push_back({"softmax of long lines", Softmax{1}, list(floats({3, 1111}))});
  cases.push_back({"softmax inside", Softmax{1}, list(floats({2, 9, 5}))});
  cases.push_back({"layer norm", LayerNorm{1e-5f}, list(floats({2, 5, 48}), floats({48}), floats({48}))});
  cases.push_back({"layer norm of long rows", LayerNorm{1e-12f},
                   list(floats({3, 1025}), floats({1025}), floats({1025}))});
  for (const auto kind : {Reduce::sum, Reduce::mean, Reduce::maximum, Reduce::minimum}) {
    cases.push_back({std::string(name_of(kind)), Reduce{kind, {0, 2}, true}, list(floats({3, 4, 50, 2}))});
    cases.push_back(
        {std::string(name_of(kind)) + " of the last", Reduce{kind, {1}, false}, list(floats({6, 300}))});
  }
  cases.push_back({"sum of integers", Reduce{Reduce::sum, {0, 1}, false}, list(integers({20, 30}, 1000))});
  cases.push_back({"arg max", ArgMax{1, false}, list(floats({5, 400}))});
  cases.push_back({"arg max of integers", ArgMax{0, true}, list(integers({40, 3}, 6))});
  cases.push_back({"cumsum", CumSum{1}, list(integers({3, 290}, 2))});
  cases.push_back({"cumsum inside", CumSum{0}, list(floats({40, 3}))});
}

void add_products(std::vector<OpCase>& cases) {
  cases.push_back({"matmul", MatMul{}, list(floats({17, 33}), floats({33, 9}))});
  cases.push_back({"matmul of a batch", MatMul{}, list(floats({2, 3, 5, 8}), floats({2, 3, 8, 7}))});
  cases.push_back({"matmul with one factor for all", MatMul{}, list(floats({2, 3, 5, 8}), floats({8, 7}))});
  cases.push_back(
      {"matmul with one first factor for all", MatMul{}, list(floats({5, 8}), floats({4, 8, 7}))});
  cases.push_back(
      {"matmul that broadcasts both ways", MatMul{}, list(floats({2, 1, 3, 5, 8}), floats({3, 1, 8, 7}))});
  cases.push_back({"matmul over nothing", MatMul{}, list(floats({4, 0}), floats({0, 3}))});
  cases.push_back({"matmul of no rows", MatMul{}, list(floats({2, 0, 4}), floats({2, 4, 3}))});
  cases.push_back({"linear", Linear{}, list(floats({2, 5, 24}), floats({31, 24}), floats({31}))});
  cases.push_back({"linear without bias", Linear{}, list(floats({5, 24}), floats({31, 24}))});
  cases.push_back({"linear of one row", Linear{}, list(floats({1, 3}), floats({2, 3}), floats({2}))});
  cases.push_back({"linear over nothing", Linear{}, list(floats({2, 0}), floats({3, 0}), floats({3}))});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  add_elementwise(cases);
  add_movement(cases);
  add_lines(cases);
  add_products(cases);
  return cases;
}

Node node_of(const Op& op, const std::vector<Tensor>& inputs, const std::string& path) {
  Graph graph;
  std::vector<Value> values;
  for (const Tensor& t : inputs)
    values.push_back(
        graph.add_source(Input{"x" + std::to_string(values.size())}, {t.dtype(), to_shape(t.shape())}));
  return graph.at(graph.add(op, values, path));
}

Tensor result_on(runtime::Device& device, const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<runtime::DeviceTensor> in;
  const auto place = [&](DType dtype, const Sizes& shape) {
    runtime::DeviceTensor t{nullptr, dtype, shape};
    t.data = device.allocate(t.bytes());
    return t;
  };
  for (const Tensor& t : inputs) {
    in.push_back(place(t.dtype(), t.shape()));
    device.upload(in.back().data, t.bytes());
  }
  Tensor result(node.outputs[0].dtype, to_sizes(node.outputs[0].shape));
  const auto out = place(result.dtype(), result.shape());
  in.push_back(out);  // to be freed with the others
  device.run(node, std::span(in).first(inputs.size()), out);
  device.download(result.bytes(), out.data);
  for (const auto& t : in) device.free(t.data, t.bytes());
  return result;
}

std::string difference(const Tensor& got, const Tensor& wanted, double tolerance) {
  if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape()) return "types differ";
  if (!is_float(got.dtype()))
    return std::equal(got.bytes().begin(), got.bytes().end(), wanted.bytes().begin()) ? "" : "values differ";
  const Tensor a = converted(got.view(), DType::f64), b = converted(wanted.view(), DType::f64);
  for (std::size_t i = 0; i < a.as<double>().size(); ++i) {
    const double x = a.as<double>()[i], y = b.as<double>()[i];
    if (!(std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y))))
      return "element " + std::to_string(i) + " is " + std::to_string(x) + ", not " + std::to_string(y);
  }
  return "";
}

void check_ops_in_fp32(runtime::Device& device) {
  const auto cpu = runtime::open_device("cpu", {.threads = 1, .cap_bytes = 0});
  for (const OpCase& c : op_cases()) {
    CAPTURE(c.name);
    const Node node = node_of(c.op, c.inputs);
    CHECK(difference(result_on(device, node, c.inputs), result_on(*cpu, node, c.inputs), 1e-5) == "");
  }
  CHECK(device.memory().used_bytes <= std::uint64_t{8} << 20);  // no more than the products' workspace stays
}

void check_ops_in(runtime::Device& device, DType dtype, double tolerance) {
  const auto cpu = runtime::open_device("cpu", {.threads = 1, .cap_bytes = 0});
  for (const OpCase& c : op_cases()) {
    if (c.inputs.empty() || c.inputs[0].dtype() != DType::f32 || std::holds_alternative<Cast>(c.op)) continue;
    CAPTURE(c.name);
    std::vector<Tensor> rounded, exact;
    for (const Tensor& t : c.inputs) {
      const bool is_number = t.dtype() == DType::f32;
      rounded.push_back(converted(t.view(), is_number ? dtype : t.dtype()));
      exact.push_back(converted(rounded.back().view(), t.dtype()));
    }
    const Tensor wanted = result_on(*cpu, node_of(c.op, exact), exact);
    const Tensor got = result_on(device, node_of(c.op, rounded), rounded);
    CHECK(difference(converted(got.view(), wanted.dtype()), wanted, tolerance) == "");
  }
}

void check_fixture(runtime::Device& device, const std::filesystem::path& folder) {
  const nlohmann::json facts = nlohmann::json::parse(read_text(folder / "case.json"));
  const Model model = load_model(folder, {.task = "", .all_outputs = true});
  const runtime::Reference reference =
      runtime::read_reference(folder / facts.value("reference", "reference.safetensors"));
  runtime::Session session(model.parts[0].graph, model.checkpoint, device,
                           {.observe = true, .communicator = nullptr});
  const runtime::Report report =
      runtime::compare(session.step(reference.inputs), {reference.outputs, reference.noise, {}});
  for (const auto& c : report.outputs)
    CHECK_MESSAGE(c.passed(), folder << ": " << c.name << " " << c.problem);
  for (const auto& c : report.layers) CHECK_MESSAGE(c.passed(), folder << ": " << c.name << " " << c.problem);
  CHECK_FALSE(report.outputs.empty());
}

}  // namespace hf::test
