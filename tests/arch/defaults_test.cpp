// A config that says nothing has the sizes of transformers' config classes (4.57).
#include <doctest/doctest.h>

#include "arch/rows.h"

namespace hf::test {
namespace {

struct DefaultsRow {
  std::string_view model_type;
  std::size_t layers;
  std::int64_t head_dim;
  std::map<std::string, std::string> shapes;  // a weight of each size
};

const DefaultsRow kDefaults[] = {
    {"albert",
     12,
     64,
     {{"embeddings.word_embeddings.weight", "[30000, 128]"},
      {"encoder.embedding_hidden_mapping_in.weight", "[4096, 128]"},
      {"encoder.albert_layer_groups.0.albert_layers.0.ffn.weight", "[16384, 4096]"}}},
    {"bert",
     12,
     64,
     {{"embeddings.word_embeddings.weight", "[30522, 768]"},
      {"embeddings.position_embeddings.weight", "[512, 768]"},
      {"embeddings.token_type_embeddings.weight", "[2, 768]"},
      {"encoder.layer.11.intermediate.dense.weight", "[3072, 768]"}}},
    {"roberta",
     12,
     64,
     {{"embeddings.word_embeddings.weight", "[50265, 768]"},
      {"embeddings.position_embeddings.weight", "[512, 768]"},
      {"embeddings.token_type_embeddings.weight", "[2, 768]"},
      {"encoder.layer.11.intermediate.dense.weight", "[3072, 768]"}}},
    {"xlm-roberta", 12, 64, {{"embeddings.word_embeddings.weight", "[30522, 768]"}}},
    {"camembert", 12, 64, {{"embeddings.word_embeddings.weight", "[30522, 768]"}}},
    {"distilbert",
     6,
     64,
     {{"embeddings.word_embeddings.weight", "[30522, 768]"},
      {"embeddings.position_embeddings.weight", "[512, 768]"},
      {"transformer.layer.5.ffn.lin1.weight", "[3072, 768]"}}},
    {"electra",
     12,
     64,
     {{"embeddings.word_embeddings.weight", "[30522, 128]"},
      {"embeddings_project.weight", "[256, 128]"},
      {"encoder.layer.11.intermediate.dense.weight", "[1024, 256]"}}},
    {"gpt2",
     12,
     64,
     {{"wte.weight", "[50257, 768]"},
      {"wpe.weight", "[1024, 768]"},
      {"h.11.mlp.c_fc.weight", "[3072, 768]"}}},
};

std::map<std::string, std::string> weight_shapes(const Graph& graph) {
  std::map<std::string, std::string> out;
  for (const Node& node : graph.nodes)
    if (const auto* weight = std::get_if<Weight>(&node.op))
      out[weight->ref.name] = to_string(node.outputs[0].shape);
  return out;
}

}  // namespace

TEST_CASE("an empty config has the sizes that transformers' class gives it") {
  for (const Architecture& row : architectures()) {
    CAPTURE(row.model_type);
    const auto* expected = std::find_if(std::begin(kDefaults), std::end(kDefaults),
                                        [&](const DefaultsRow& r) { return r.model_type == row.model_type; });
    REQUIRE(expected != std::end(kDefaults));
    const Graph graph = build_graph(
        Config::parse("{\"model_type\":\"" + std::string(row.model_type) + "\"}", "config.json"), {});
    const auto shapes = weight_shapes(graph);
    for (const auto& [name, shape] : expected->shapes) {
      CAPTURE(name);
      REQUIRE(shapes.contains(name));
      CHECK(shapes.at(name) == shape);
    }
    const auto attention = all_of<Attention>(graph);
    CHECK(attention.size() == expected->layers);
    CHECK(attention[0].head_dim == expected->head_dim);
  }
}

TEST_CASE("an empty config of a classifier has two labels") {
  const Graph graph = build_graph(
      Config::parse(R"({"model_type":"bert","architectures":["BertForSequenceClassification"]})", "c"), {});
  CHECK(to_string(graph.shape(graph.find_output("logits"))) == "[batch_size, 2]");
}

}  // namespace hf::test
