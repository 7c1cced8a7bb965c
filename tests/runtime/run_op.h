// Runs one op, or a small graph, on a CPU device.
#pragma once
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "runtime/session/session.h"

namespace hf::test {

// Numbers that are the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  double uniform(double least, double greatest) {
    return least + (greatest - least) * static_cast<double>(next() >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

// Values in [least, greatest), as `dtype` stores them.
inline Tensor random(DType dtype, Sizes shape, std::uint64_t seed, double least = -2, double greatest = 2) {
  Numbers numbers(seed);
  Tensor values(DType::f64, std::move(shape));
  for (double& x : values.as<double>()) x = numbers.uniform(least, greatest);
  return converted(values.view(), dtype);
}

inline Tensor tensor(DType dtype, Sizes shape, std::initializer_list<double> values) {
  Tensor out(DType::f64, std::move(shape));
  std::copy(values.begin(), values.end(), out.as<double>().begin());
  return converted(out.view(), dtype);
}

inline std::vector<double> doubles(const Tensor& t) {
  const Tensor values = converted(t.view(), DType::f64);
  const auto all = values.as<double>();
  return {all.begin(), all.end()};
}

// A graph whose inputs have the tensors' types, with an absent one where a tensor is null, and one op on
// them.
inline Graph graph_of(const Op& op, const std::vector<const Tensor*>& inputs) {
  Graph graph;
  std::vector<Value> values;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values.push_back(inputs[i] == nullptr
                         ? Value{}
                         : graph.add_source(Input{"x" + std::to_string(i)},
                                            {inputs[i]->dtype(), to_shape(inputs[i]->shape())}));
  graph.outputs.push_back({"y", graph.add(op, values, "layer.0.block")});
  return graph;
}

inline Tensor run_graph(const Graph& graph, const std::vector<const Tensor*>& inputs,
                        std::size_t threads = 2) {
  const auto device = runtime::open_device("cpu", {.threads = threads, .cap_bytes = 0});
  runtime::Session session(graph, nullptr, *device);
  runtime::Inputs named;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr) named.emplace("x" + std::to_string(i), inputs[i]->view());
  return std::move(session.step(named).outputs.at(0).tensor);
}

inline Tensor run_op(const Op& op, const std::vector<const Tensor*>& inputs, std::size_t threads = 2) {
  return run_graph(graph_of(op, inputs), inputs, threads);
}

// The greatest absolute difference; infinite where shapes differ or only one is NaN.
inline double difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return HUGE_VAL;
  const std::vector<double> x = doubles(a), y = doubles(b);
  double greatest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    if (!(std::abs(x[i] - y[i]) <= greatest)) greatest = std::abs(x[i] - y[i]);
    if (std::isnan(greatest)) return HUGE_VAL;
  }
  return greatest;
}

}  // namespace hf::test
