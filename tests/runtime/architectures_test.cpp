// Every row of the architecture table with every head, on made-up weights.
#include <doctest/doctest.h>

#include "run_op.h"
#include "runtime/compare/made_inputs.h"
#include "runtime/parallel/tensor_parallel.h"
#include "support/error_of.h"
#include "support/made_up.h"

using namespace hf;
using namespace hf::runtime;
using namespace hf::test;

namespace {

struct Case {
  Graph graph;
  std::shared_ptr<const Checkpoint> weights;
  std::vector<std::pair<std::string, Tensor>> made;

  Inputs inputs() const {
    Inputs out;
    for (const auto& [name, tensor] : made) out.emplace(name, tensor.view());
    return out;
  }
};

Case case_of(const Architecture& row, std::string_view head, const TinySizes& sizes = {}) {
  Case c;
  c.graph = build_graph(tiny_config(row, head, sizes), {{}, true});
  c.weights = std::make_shared<TensorMap>(made_up_weights(c.graph));
  std::vector<Tensor> tensors =
      made_up_inputs(c.graph, {{"batch_size", 3}, {"sequence_length", 7}, {"num_choices", 2}});
  for (std::size_t i = 0; i < tensors.size(); ++i)
    c.made.emplace_back(c.graph.input_name(c.graph.inputs[i]), std::move(tensors[i]));
  return c;
}

template <class F>
void for_each_row_and_head(F&& f) {
  for (const Architecture& row : architectures())
    for (const std::string_view head : row.heads) {
      CAPTURE(row.model_type);
      CAPTURE(head);
      f(row, head);
    }
}

Results run(const Graph& graph, const Case& c) {
  const auto device = open_device("cpu", {.threads = 2, .cap_bytes = 0});
  Session session(graph, c.weights, *device, {.observe = true, .communicator = nullptr});
  return session.step(c.inputs());
}

// The greatest difference of all outputs and observed values.
double difference(const Results& a, const Results& b) {
  double greatest = 0;
  for (const auto list : {&Results::outputs, &Results::observed}) {
    REQUIRE((a.*list).size() == (b.*list).size());
    for (std::size_t i = 0; i < (a.*list).size(); ++i)
      greatest = std::max(greatest, test::difference((a.*list)[i].tensor, (b.*list)[i].tensor));
  }
  return greatest;
}

std::size_t count_all_reduces(const Graph& graph, int layer) {
  return static_cast<std::size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) {
    return n.layer == layer && std::holds_alternative<AllReduce>(n.op);
  }));
}

}  // namespace

TEST_CASE("fused is decomposed, for every row and head") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Case c = case_of(row, head);
    const Results fused = run(c.graph, c);
    REQUIRE_FALSE(fused.outputs.empty());
    CHECK(fused.observed.size() > 2);
    for (const NamedTensor& output : fused.outputs) {  // a model that gives zeros would be equal to itself
      const std::vector<double> values = doubles(output.tensor);
      CHECK(*std::max_element(values.begin(), values.end()) >
            *std::min_element(values.begin(), values.end()));
    }
    CHECK(difference(fused, run(decompose(c.graph), c)) < 1e-5);
  });
}

TEST_CASE("two and three tensor-parallel ranks are one device, for every row and head") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Case c = case_of(row, head);
    const Results one = run(c.graph, c);
    for (const int ranks : {2, 3}) {
      CAPTURE(ranks);
      const std::vector<RankResult> all =
          run_tensor_parallel(c.graph, c.weights, ranks, c.inputs(), {.threads = 1, .cap_bytes = 0}, true);
      REQUIRE(all.size() == static_cast<std::size_t>(ranks));
      for (const RankResult& rank : all) {
        CHECK(difference(one, rank.results) < 1e-5);
        CHECK(difference(all[0].results, rank.results) == 0);
      }
      const Graph part = shard(c.graph, 0, ranks);
      for (int layer = 0; layer < TinySizes{}.layers; ++layer) CHECK(count_all_reduces(part, layer) == 2);
    }
  });
}

TEST_CASE("a rank holds its part of the weights") {
  const Case c = case_of(architectures()[0], "Model");
  const std::vector<RankResult> one = run_tensor_parallel(c.graph, c.weights, 1, c.inputs()),
                                three = run_tensor_parallel(c.graph, c.weights, 3, c.inputs());
  for (const RankResult& rank : three) CHECK(rank.memory.weight_bytes < one[0].memory.weight_bytes * 2 / 3);
}

TEST_CASE("heads that the ranks do not divide are refused with a sentence") {
  const Case c = case_of(architectures()[0], "Model");
  const auto caught = error_of([&] { run_tensor_parallel(c.graph, c.weights, 5, c.inputs()); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("do not divide by 5"));
}

TEST_CASE("a failing rank ends the run with its error") {
  const Case c = case_of(architectures()[0], "Model");
  const auto caught = error_of(
      [&] { run_tensor_parallel(c.graph, c.weights, 2, c.inputs(), {.threads = 1, .cap_bytes = 10000}); });
  CHECK(caught == ErrorKind::out_of_memory);
  CHECK(caught.says("rank "));
}

TEST_CASE("made inputs run on every row and head, and follow from the seed") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Case c = case_of(row, head);
    const Graph* graphs[] = {&c.graph};
    const NamedTensors first = make_inputs(graphs, {1, 2, 9}), again = make_inputs(graphs, {1, 2, 9}),
                       other = make_inputs(graphs, {2, 2, 9});
    Inputs inputs;
    double changed = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      inputs.emplace(first[i].name, first[i].tensor.view());
      CHECK(test::difference(first[i].tensor, again[i].tensor) == 0);
      changed += test::difference(first[i].tensor, other[i].tensor);
    }
    CHECK(changed > 0);
    const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
    Session session(c.graph, c.weights, *device);
    for (const NamedTensor& output : session.step(inputs).outputs)
      for (const double x : doubles(output.tensor)) REQUIRE(std::isfinite(x));
  });
}
