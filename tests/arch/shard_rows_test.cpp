// Every row and head over 2, 3, 4, 6 and 12 ranks: shapes, sums, and that the ranks' weights are the whole
// again. That the numbers agree is the runtime's test.
#include <doctest/doctest.h>

#include "arch/rows.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

struct WeightNode {
  const Weight* weight;
  const Node* node;
};

std::vector<WeightNode> weights_of(const Graph& graph) {
  std::vector<WeightNode> out;
  for (const Node& node : graph.nodes)
    if (const auto* weight = std::get_if<Weight>(&node.op)) out.push_back({weight, &node});
  return out;
}

// The ranks' parts side by side along `axis`: rows below each other, or row by row.
std::vector<float> merged(const std::vector<Tensor>& parts, std::size_t axis) {
  std::vector<float> out;
  const std::int64_t rows = axis == 0 ? 1 : parts[0].shape()[0];
  for (std::int64_t row = 0; row < rows; ++row)
    for (const Tensor& part : parts) {
      const auto all = part.as<float>();
      const std::size_t width = all.size() / static_cast<std::size_t>(rows);
      const auto mine = all.subspan(static_cast<std::size_t>(row) * width, width);
      out.insert(out.end(), mine.begin(), mine.end());
    }
  return out;
}

void check_weights(const Graph& whole, const std::vector<Graph>& ranks, const TensorMap& checkpoint) {
  const std::vector<WeightNode> expected = weights_of(whole);
  std::vector<std::vector<WeightNode>> got;
  for (const Graph& g : ranks) got.push_back(weights_of(g));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Weight& weight = *expected[i].weight;
    CAPTURE(weight.ref.name);
    const Tensor all = load(checkpoint, weight.ref, DType::f32);
    std::vector<Tensor> parts;
    for (const auto& mine : got) {
      REQUIRE(mine.size() == expected.size());
      parts.push_back(load(checkpoint, mine[i].weight->ref, DType::f32));
      CHECK(to_shape(parts.back().shape()) == mine[i].node->outputs[0].shape);
    }
    if (weight.split.kind == Split::none) parts.resize(1);
    CHECK(merged(parts, weight.split.kind == Split::inputs ? 1 : 0) ==
          std::vector<float>(all.as<float>().begin(), all.as<float>().end()));
  }
}

// Outputs over the vocabulary: their projection is cut, so that they are gathered.
std::size_t word_outputs(const Graph& graph, const TinySizes& sizes) {
  std::size_t count = 0;
  for (const Named& n : graph.outputs) count += graph.shape(n.value).back() == Dim(sizes.vocabulary) ? 1 : 0;
  return count;
}

Caught refused(const Architecture& row, std::string_view head, const TinySizes& sizes, int ranks) {
  const Graph graph = build_graph(tiny_config(row, head, sizes), {});
  return error_of([&] { shard(graph, 0, ranks); });
}

}  // namespace

TEST_CASE("every row over 2 to 12 ranks has two sums a layer, and its weights are the whole again") {
  const std::pair<std::int64_t, std::vector<int>> cases[] = {{24, {2, 3, 4, 6, 12}}, {48, {2, 3}}};
  for (const auto& [hidden, counts] : cases) {
    TinySizes sizes;
    sizes.hidden = hidden;
    for_each_row_and_head([&](const Architecture& row, std::string_view head) {
      const Graph whole = build_graph(tiny_config(row, head, sizes), {{}, true});
      const TensorMap weights = made_up_weights(whole);
      for (const int ranks : counts) {
        CAPTURE(ranks);
        std::vector<Graph> graphs;
        for (int rank = 0; rank < ranks; ++rank) {
          graphs.push_back(shard(whole, rank, ranks));
          const Graph& mine = graphs.back();
          check(mine);
          CHECK(all_of<AllReduce>(mine).size() == 2 * static_cast<std::size_t>(sizes.layers));
          CHECK(all_of<AllGather>(mine).size() == word_outputs(whole, sizes));
          CHECK(all_of<Attention>(mine).size() == static_cast<std::size_t>(sizes.layers));
        }
        check_weights(whole, graphs, weights);
      }
    });
  }
}

TEST_CASE(
    "every rank has whole inputs, outputs and observed values, and its share of heads and inner width") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph whole = build_graph(tiny_config(row, head), {{}, true});
    const Graph mine = shard(whole, 2, 3);
    REQUIRE(mine.inputs.size() == whole.inputs.size());
    for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
      CHECK(mine.input_name(mine.inputs[i]) == whole.input_name(whole.inputs[i]));
      CHECK(mine.type(mine.inputs[i]) == whole.type(whole.inputs[i]));
    }
    for (const auto& [part, all] :
         {std::pair(&mine.outputs, &whole.outputs), {&mine.observed, &whole.observed}}) {
      REQUIRE(part->size() == all->size());
      for (std::size_t i = 0; i < all->size(); ++i) {
        CHECK((*part)[i].name == (*all)[i].name);
        CHECK(mine.type((*part)[i].value) == whole.type((*all)[i].value));
      }
    }
    for (const Node& node : mine.nodes) {
      if (!std::holds_alternative<Attention>(node.op)) continue;
      CHECK(mine.shape(node.inputs[0])[2] == Dim(TinySizes{}.hidden / 3));
      CHECK(mine.shape(node.inputs[1])[1] == Dim(TinySizes{}.heads / 3));
    }
  });
}

TEST_CASE("a sharded graph binds and is planned with less memory than the whole") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Symbols symbols{{"batch_size", 2}, {"sequence_length", 8}, {"num_choices", 2}};
    TinySizes sizes;
    sizes.ffn = 480;
    const Graph whole = build_graph(tiny_config(row, head, sizes), {});
    const Graph mine = bind_symbols(shard(whole, 0, 12), symbols);
    check(mine);
    CHECK(plan_memory(mine).bytes < plan_memory(bind_symbols(whole, symbols)).bytes);
  });
}

TEST_CASE("heads that do not divide are refused for every row") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    for (const int ranks : {5, 8, 24}) {
      const Caught c = refused(row, head, {}, ranks);
      CHECK(c == ErrorKind::usage);
      CHECK_MESSAGE(c.says("tensor parallel over " + std::to_string(ranks) + ": "), c.message);
      CHECK_MESSAGE(c.says("has 12 heads, which do not divide by " + std::to_string(ranks)), c.message);
    }
  });
}

TEST_CASE("an inner width that does not divide is refused for every row") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    TinySizes sizes;
    sizes.ffn = 49;
    const Caught c = refused(row, head, sizes, 2);
    CHECK(c == ErrorKind::usage);
    CHECK_MESSAGE(c.says("has 49 outputs, which do not divide by 2"), c.message);
  });
}

TEST_CASE("a vocabulary that does not divide is refused where it is projected to") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    TinySizes sizes;
    sizes.vocabulary = 97;
    const Caught c = refused(row, head, sizes, 2);
    CHECK(c.kind.has_value() == (word_outputs(build_graph(tiny_config(row, head, sizes), {}), sizes) > 0));
    if (c.kind) CHECK_MESSAGE(c.says("has 97 outputs, which do not divide by 2"), c.message);
  });
}

}  // namespace hf::test
