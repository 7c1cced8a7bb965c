// Each option of config.json that changes a forward pass in transformers changes the graph, or is refused by
// name; those that change nothing there change nothing here.
#include <doctest/doctest.h>

#include <cmath>

#include "arch/rows.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

constexpr std::string_view kBertLike[] = {"bert", "roberta", "xlm-roberta", "camembert", "electra"};

bool has_weight(const Graph& graph, std::string_view name) {
  const auto weights = all_of<Weight>(graph);
  return std::any_of(weights.begin(), weights.end(), [&](const Weight& w) { return w.ref.name == name; });
}

Caught refused(std::string_view model_type, std::string_view head, std::string_view extra) {
  return error_of([&] { tiny_graph(model_type, head, extra); });
}

void check_unsupported(std::string_view model_type, std::string_view head, std::string_view extra,
                       std::string_view sentence) {
  CAPTURE(model_type);
  const Caught c = refused(model_type, head, extra);
  CHECK(c == ErrorKind::unsupported);
  CHECK_MESSAGE(c.says("tiny "), c.message);  // the config's subject
  CHECK_MESSAGE(c.says(sentence), c.message);
}

}  // namespace

TEST_CASE("options without a part in the forward pass change nothing") {
  const std::string extra =
      R"("chunk_size_feed_forward": 3, "problem_type": "regression", "output_hidden_states": true,
         "output_attentions": true, "use_cache": false, "return_dict": false, "torchscript": true, "dtype": "float16",
         "torch_dtype": "bfloat16", "gradient_checkpointing": true, "hidden_dropout_prob": 0.5, "dropout": 0.5,
         "attention_probs_dropout_prob": 0.5, "classifier_dropout": 0.5, "resid_pdrop": 0.5, "initializer_range": 9,
         "summary_last_dropout": 0.9, "summary_first_dropout": 0.9, "sinusoidal_pos_embds": true,
         "reorder_and_upcast_attn": true, "is_encoder_decoder": false, "transformers_version": "9", "num_labels": 7,
         "label2id": {"A": 0}, "bos_token_id": 3, "_name_or_path": "x", "pruned_heads": {},
         "quantization_config": null, "add_cross_attention": false)";
  for_each_row_and_head([&](const Architecture& row, std::string_view head) {
    CHECK(dump(build_graph(tiny_config(row, head, {}, extra), {{}, true})) ==
          dump(build_graph(tiny_config(row, head), {{}, true})));
  });
}

TEST_CASE("quantized weights, pruned heads and cross-attention are refused by name") {
  for (const Architecture& row : architectures()) {
    check_unsupported(row.model_type, row.heads[0],
                      R"("quantization_config": {"quant_method": "bitsandbytes"})",
                      "\"quantization_config\" is not supported");
    check_unsupported(row.model_type, row.heads[0], R"("pruned_heads": {"1": [0, 2]})",
                      "\"pruned_heads\" is not supported");
    check_unsupported(row.model_type, row.heads[0], R"("add_cross_attention": true, "is_decoder": true)",
                      "\"add_cross_attention\" is not supported");
  }
}

TEST_CASE("a decoder of the BERT family sees no later token") {
  for (const std::string_view type : kBertLike) {
    CAPTURE(type);
    for (const Attention& a : all_of<Attention>(tiny_graph(type, "Model"))) CHECK_FALSE(a.causal);
    for (const Attention& a : all_of<Attention>(tiny_graph(type, "Model", R"("is_decoder": true)")))
      CHECK(a.causal);
  }
}

TEST_CASE("classes that do not read is_decoder see every token") {
  for (const std::string_view type : {"albert", "distilbert"})
    CHECK(dump(tiny_graph(type, "Model", R"("is_decoder": true)")) == dump(tiny_graph(type, "Model")));
}

TEST_CASE("ALBERT runs its groups' layers again and again") {
  TinySizes sizes;
  sizes.layers = 5;
  const auto graph = [&](std::string_view extra) { return tiny_graph("albert", "Model", extra, sizes); };
  CHECK(all_of<Attention>(graph("")).size() == 5);
  CHECK_FALSE(has_weight(graph(""), "encoder.albert_layer_groups.1.albert_layers.0.ffn.weight"));
  const Graph grouped = graph(R"("num_hidden_groups": 2, "inner_group_num": 3)");
  CHECK(all_of<Attention>(grouped).size() == 15);
  std::vector<std::string> queries;
  for (const Weight& w : all_of<Weight>(grouped))
    if (w.ref.name.ends_with("query.weight")) queries.push_back(w.ref.name.substr(28, 1));
  // int(layer / (5 / 2)): layers 0, 1 and 2 are the first group's, each three times.
  CHECK(queries ==
        std::vector<std::string>{"0", "0", "0", "0", "0", "0", "0", "0", "0", "1", "1", "1", "1", "1", "1"});
  CHECK(refused("albert", "Model", R"("inner_group_num": 2000000000)") == ErrorKind::integrity);
}

TEST_CASE("relative positions have distances in each layer and no position table") {
  for (const std::string_view type : kBertLike) {
    CAPTURE(type);
    std::size_t products = 0;
    for (const char* kind : {"relative_key", "relative_key_query"}) {
      const Graph g = tiny_graph(type, "Model", R"("position_embedding_type": ")" + std::string(kind) + "\"");
      CHECK(has_weight(g, "encoder.layer.1.attention.self.distance_embedding.weight"));
      CHECK_FALSE(has_weight(g, "embeddings.position_embeddings.weight"));
      CHECK(all_of<MatMul>(g).size() > products);  // for queries, then for keys too
      products = all_of<MatMul>(g).size();
    }
    CHECK(products == 4);
    check_unsupported(type, "Model", R"("position_embedding_type": "rotary")",
                      "position_embedding_type \"rotary\" is not supported");
  }
}

TEST_CASE("an epsilon that no norm can have is refused with its field") {
  for (const std::string value : {"-1", "1e300", "2"}) {
    CAPTURE(value);
    const Caught bert = refused("bert", "Model", "\"layer_norm_eps\": " + value);
    CHECK(bert == ErrorKind::integrity);
    CHECK_MESSAGE(bert.says("\"layer_norm_eps\" is "), bert.message);
    CHECK(refused("gpt2", "Model", "\"layer_norm_epsilon\": " + value) == ErrorKind::integrity);
  }
  CHECK_NOTHROW(tiny_graph("bert", "Model", "\"layer_norm_eps\": 0"));
}

TEST_CASE("every activation that is known builds, another one is refused with those that are") {
  for (const char* name :
       {"gelu", "gelu_python", "gelu_new", "gelu_fast", "gelu_accurate", "gelu_pytorch_tanh",
        "gelu_python_tanh", "quick_gelu", "relu", "relu2", "silu", "swish", "tanh", "sigmoid", "linear"}) {
    CAPTURE(name);
    const std::string quoted = "\"" + std::string(name) + "\"";
    CHECK_NOTHROW(tiny_graph("bert", "Model", "\"hidden_act\": " + quoted));
    CHECK_NOTHROW(tiny_graph("gpt2", "Model", "\"activation_function\": " + quoted));
    CHECK_NOTHROW(tiny_graph("distilbert", "Model", "\"activation\": " + quoted));
  }
  for (const auto& [type, field] : {std::pair{"bert", "hidden_act"},
                                    {"electra", "hidden_act"},
                                    {"gpt2", "activation_function"},
                                    {"distilbert", "activation"}})
    check_unsupported(type, "Model", "\"" + std::string(field) + "\": \"mish\"",
                      "\"" + std::string(field) + "\" is \"mish\", one of gelu, ");
}

TEST_CASE("the epsilon of norms is the config's, DistilBERT's its class's") {
  for (const std::string_view type : kBertLike)
    for (const LayerNorm& n : all_of<LayerNorm>(tiny_graph(type, "Model", R"("layer_norm_eps": 0.25)")))
      CHECK(n.epsilon == 0.25f);
  for (const LayerNorm& n : all_of<LayerNorm>(tiny_graph("gpt2", "Model", R"("layer_norm_epsilon": 0.25)")))
    CHECK(n.epsilon == 0.25f);
  for (const LayerNorm& n : all_of<LayerNorm>(tiny_graph("distilbert", "Model", R"("layer_norm_eps": 0.25)")))
    CHECK(n.epsilon == 1e-12f);
}

TEST_CASE("a projection that is tied is the word embedding, one that is not has a weight of its own") {
  struct Row {
    std::string_view type, head, projection;
  };
  for (const Row& row : {Row{"bert", "ForMaskedLM", "cls.predictions.decoder.weight"},
                         Row{"bert", "ForPreTraining", "cls.predictions.decoder.weight"},
                         Row{"roberta", "ForMaskedLM", "lm_head.decoder.weight"},
                         Row{"distilbert", "ForMaskedLM", "vocab_projector.weight"},
                         Row{"electra", "ForMaskedLM", "generator_lm_head.weight"},
                         Row{"gpt2", "LMHeadModel", "lm_head.weight"}}) {
    CAPTURE(row.type);
    CHECK_FALSE(has_weight(tiny_graph(row.type, row.head), row.projection));
    CHECK(has_weight(tiny_graph(row.type, row.head, R"("tie_word_embeddings": false)"), row.projection));
  }
}

TEST_CASE("a size under two names is the common one's, as transformers' attribute_map has it") {
  const Graph gpt2 =
      tiny_graph("gpt2", "Model", R"("n_embd": 24, "n_layer": 5, "n_head": 6, "n_positions": 9)");
  CHECK(dump(gpt2) == dump(tiny_graph("gpt2", "Model")));
  const Graph distilbert = tiny_graph("distilbert", "Model", R"("dim": 24, "n_layers": 5, "n_heads": 6)");
  CHECK(dump(distilbert) == dump(tiny_graph("distilbert", "Model")));
}

TEST_CASE("GPT-2 has an inner width of four times its own where the config has none") {
  const Graph g = tiny_graph("gpt2", "Model", R"("n_inner": null)");
  const std::string text = dump(g);
  CHECK(text.find("Weight{h.0.mlp.c_fc.weight.T split by outputs}() : fp32 [192, 48]") != std::string::npos);
}

TEST_CASE("GPT-2's scores are scaled by head, by layer, or not at all") {
  const auto scales = [](std::string_view extra) {
    std::vector<float> out;
    for (const Attention& a : all_of<Attention>(tiny_graph("gpt2", "Model", extra))) out.push_back(a.scale);
    return out;
  };
  CHECK(scales("") == std::vector<float>{0.5f, 0.5f});
  CHECK(scales(R"("scale_attn_weights": false)") == std::vector<float>{1, 1});
  CHECK(scales(R"("scale_attn_by_inverse_layer_idx": true)") == std::vector<float>{0.5f, 0.25f});
  CHECK(scales(R"("scale_attn_by_inverse_layer_idx": true, "scale_attn_weights": false)") ==
        std::vector<float>{1, 0.5f});
}

TEST_CASE("GPT-2 classifies by the last token that is not padding, by the last where no padding is named") {
  CHECK(all_of<Reduce>(tiny_graph("gpt2", "ForSequenceClassification")).size() == 2);
  CHECK(all_of<Reduce>(tiny_graph("gpt2", "ForSequenceClassification", R"("pad_token_id": null)")).empty());
}

TEST_CASE("RoBERTa counts positions from its padding id") {
  for (const int pad : {0, 5}) {
    const Graph g = tiny_graph("roberta", "Model", "\"pad_token_id\": " + std::to_string(pad));
    CHECK(dump(g).find("Constant{" + std::to_string(pad) + "}() : int64 []") != std::string::npos);
  }
}

TEST_CASE("question answering needs two labels where its class counts them") {
  const char* three = R"("id2label": {"0": "a", "1": "b", "2": "c"})";
  for (const Architecture& row : architectures()) {
    CAPTURE(row.model_type);
    const Caught c = refused(row.model_type, "ForQuestionAnswering", three);
    if (row.model_type == "gpt2") {  // its class has two outputs whatever the labels
      CHECK_FALSE(c.kind);
    } else {
      CHECK(c == ErrorKind::integrity);
      CHECK_MESSAGE(c.says("has 3 labels, question answering needs 2 (start and end)"), c.message);
    }
  }
}

TEST_CASE("ELECTRA's summary of a choice is what its options say") {
  const auto text = [](std::string_view extra) {
    return dump(tiny_graph("electra", "ForMultipleChoice", extra));
  };
  const std::string usual = text("");
  CHECK(usual.find("sequence_summary.summary.weight") != std::string::npos);
  CHECK(text(R"("summary_type": "first", "summary_use_proj": true, "summary_activation": "gelu")") == usual);
  CHECK(text(R"("summary_type": "last")") == text(R"("summary_type": "cls_index")"));
  CHECK(text(R"("summary_type": "last")").find("sequence_length - 1:sequence_length") != std::string::npos);
  CHECK(text(R"("summary_type": "mean")").find("Reduce{mean [1]}") != std::string::npos);
  CHECK(text(R"("summary_use_proj": false)").find("sequence_summary") == std::string::npos);
  CHECK(text(R"("summary_activation": null)") == text(R"("summary_activation": "")"));
  CHECK(text(R"("summary_activation": null)") == text(R"("summary_activation": "linear")"));
  CHECK(text(R"("summary_activation": "tanh")").find("Unary{tanh}") != std::string::npos);
  CHECK(text(R"("summary_proj_to_labels": true)").find("[3, 48]") != std::string::npos);
  check_unsupported("electra", "ForMultipleChoice", R"("summary_type": "attn")",
                    "summary_type \"attn\" is not supported");
}

TEST_CASE("ELECTRA projects its embeddings only where they have another width") {
  CHECK(has_weight(tiny_graph("electra", "Model"), "embeddings_project.weight"));
  CHECK_FALSE(
      has_weight(tiny_graph("electra", "Model", R"("embedding_size": 48)"), "embeddings_project.weight"));
}

TEST_CASE("widths that are not whole heads are refused") {
  for (const Architecture& row : architectures()) {
    CAPTURE(row.model_type);
    const Caught c = refused(row.model_type, row.heads[0], R"("num_attention_heads": 7)");
    CHECK(c == ErrorKind::integrity);
    CHECK_MESSAGE(c.says("48 is not a multiple of "), c.message);
  }
}

TEST_CASE("sizes that are none are refused with their field") {
  for (const char* field :
       {"vocab_size", "num_hidden_layers", "num_attention_heads", "hidden_size", "max_position_embeddings"}) {
    for (const Architecture& row : architectures()) {
      CAPTURE(row.model_type);
      const Caught c = refused(row.model_type, row.heads[0], "\"" + std::string(field) + "\": 0");
      CHECK(c == ErrorKind::integrity);
      CHECK_MESSAGE(c.says("\"" + std::string(field) + "\" is 0"), c.message);
    }
  }
}

TEST_CASE("a config of more layers than a graph can hold is refused") {
  const Caught c = refused("bert", "Model", R"("num_hidden_layers": 2000000000)");
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("\"num_hidden_layers\" is 2000000000"), c.message);
}

}  // namespace hf::test
