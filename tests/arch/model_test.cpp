#include <doctest/doctest.h>

#include "arch/rows.h"
#include "base/file.h"
#include "checkpoint/safetensors/safetensors.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace hf::test {
namespace {

constexpr const char* kBert =
    R"({"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":4,"num_attention_heads":2,
        "num_hidden_layers":1,"intermediate_size":4,"vocab_size":6,"max_position_embeddings":5})";

Config bert() { return Config::parse(kBert, "config.json"); }

// The model's weights, each under the name that `rename` gives it; none where that is empty.
template <class F>
std::shared_ptr<TensorMap> renamed(const Config& config, F&& rename, std::string_view task = {}) {
  const TensorMap all = made_up_weights(build_graph(config, {std::string(task), true}));
  auto out = std::make_shared<TensorMap>();
  for (const std::string& name : all.names())
    if (std::string to = rename(name); !to.empty()) out->add(std::move(to), Tensor::copy_of(all.view(name)));
  return out;
}

std::string same(const std::string& name) { return name; }

Caught refused(const Config& config, const std::shared_ptr<const Checkpoint>& weights) {
  return error_of([&] { make_model(config, weights, {}); });
}

}  // namespace

TEST_CASE("missing weights are listed all at once") {
  const Caught c = refused(bert(), renamed(bert(), [](const std::string& name) {
                             return name.find("query") == std::string::npos ? name : "";
                           }));
  CHECK(c == ErrorKind::integrity);
  CHECK(c.message ==
        "tensors in memory: 2 weights are missing: \"bert.encoder.layer.0.attention.self.query.weight\", "
        "\"bert.encoder.layer.0.attention.self.query.bias\"");
}

TEST_CASE("of many missing weights ten are shown and the rest counted") {
  const Caught c = refused(bert(), std::make_shared<TensorMap>());
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(
      c.says("tensors in memory: 26 weights are missing: \"bert.embeddings.position_embeddings.weight\""),
      c.message);
  CHECK_MESSAGE(c.says(" and 16 more"), c.message);
}

TEST_CASE("a weight of another shape is refused with both shapes") {
  auto weights = renamed(bert(), same);
  weights->add("bert.embeddings.word_embeddings.weight", Tensor(DType::f32, {7, 4}));
  Caught c = refused(bert(), weights);
  CHECK(c == ErrorKind::integrity);
  CHECK(c.message ==
        "tensors in memory: tensor \"bert.embeddings.word_embeddings.weight\" has shape [7, 4], [6, 4] is "
        "expected");
  weights->add("bert.embeddings.LayerNorm.bias", Tensor(DType::f32, {4, 1}));
  c = refused(bert(), weights);
  CHECK_MESSAGE(c.says("; 1 more do not fit"), c.message);
}

TEST_CASE("a fused weight of another shape is refused with its part's shape") {
  const Config config = tiny_config(row_of("gpt2"), "Model");
  auto weights = renamed(config, same);
  weights->add("h.0.attn.c_attn.weight", Tensor(DType::f32, {40, 144}));  // [hidden, 3 hidden] stored
  Caught c = refused(config, weights);
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("tensor \"h.0.attn.c_attn.weight\" has shape [40, 144], a part of it [48, 40], [48, "
                       "48] is expected"),
                c.message);
  weights->add("h.0.attn.c_attn.weight", Tensor(DType::f32, {48, 48}));
  c = refused(config, weights);
  CHECK_MESSAGE(c.says("has shape [48, 48], which has no part of shape [48, 48]"), c.message);
  weights->add("h.0.attn.c_attn.weight", Tensor(DType::f32, {48 * 144}));
  c = refused(config, weights);
  CHECK(c == ErrorKind::integrity);
}

TEST_CASE("a weight whose first part fits but that is longer is refused") {
  const Config config = tiny_config(row_of("gpt2"), "Model");
  auto weights = renamed(config, same);
  weights->add("h.0.attn.c_attn.weight", Tensor(DType::f32, {48, 4 * 48}));
  const Caught c = refused(config, weights);
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("\"h.0.attn.c_attn.weight\" has shape [48, 192], [48, 144] is expected"), c.message);
}

TEST_CASE("weights that are used by no part of the model are unexpected") {
  auto weights = renamed(bert(), same);
  weights->add("bert.pooler.dense.weight", Tensor(DType::f32, {4, 4}));
  weights->add("cls.seq_relationship.bias", Tensor(DType::f32, {2}));
  const Model model = make_model(bert(), weights, {});
  CHECK(unexpected_names(model) ==
        std::vector<std::string>{"bert.pooler.dense.weight", "cls.seq_relationship.bias"});
}

TEST_CASE("buffers that every reader ignores are not unexpected") {
  auto weights = renamed(bert(), same);
  for (const char* name : {"bert.embeddings.position_ids", "bert.embeddings.token_type_ids"})
    weights->add(name, Tensor(DType::i64, {1, 5}));
  CHECK(unexpected_names(make_model(bert(), weights, {})).empty());
  const Config gpt2 = tiny_config(row_of("gpt2"), "LMHeadModel");
  weights = renamed(gpt2, same);
  for (const char* name : {"transformer.h.0.attn.bias", "transformer.h.1.attn.masked_bias"})
    weights->add(name, Tensor(DType::u8, {1, 1, 5, 5}));
  CHECK(unexpected_names(make_model(gpt2, weights, {})).empty());
}

TEST_CASE("a tied projection that the file has too is not unexpected, the embedding is used") {
  auto weights = renamed(bert(), same);
  weights->add("cls.predictions.decoder.weight", Tensor(DType::f32, {6, 4}));
  const Model model = make_model(bert(), weights, {});
  CHECK(unexpected_names(model).empty());
  for (const Weight& w : all_of<Weight>(model.parts[0].graph))
    CHECK(find_name(*model.checkpoint, w.ref) != "cls.predictions.decoder.weight");
}

TEST_CASE("tied weights are found under the projection's name alone") {
  struct Row {
    std::string_view type, head, embedding, projection;
  };
  for (const Row& row : {Row{"gpt2", "LMHeadModel", "transformer.wte.weight", "lm_head.weight"},
                         Row{"bert", "ForMaskedLM", "bert.embeddings.word_embeddings.weight",
                             "cls.predictions.decoder.weight"},
                         Row{"electra", "ForMaskedLM", "electra.embeddings.word_embeddings.weight",
                             "generator_lm_head.weight"},
                         Row{"distilbert", "ForMaskedLM", "distilbert.embeddings.word_embeddings.weight",
                             "vocab_projector.weight"},
                         Row{"roberta", "ForMaskedLM", "roberta.embeddings.word_embeddings.weight",
                             "lm_head.decoder.weight"}}) {
    CAPTURE(row.type);
    const Config config = tiny_config(row_of(row.type), row.head);
    const auto weights = renamed(config, [&](const std::string& name) {
      return name == row.embedding ? std::string(row.projection) : name;
    });
    CHECK(unexpected_names(make_model(config, weights, {})).empty());
    // Untied, the embedding is missing.
    const Config untied = tiny_config(row_of(row.type), row.head, {}, R"("tie_word_embeddings": false)");
    CHECK(refused(untied, weights).says("1 weights are missing: \"" + std::string(row.embedding)));
  }
}

TEST_CASE("a bias under two names is the one that transformers takes") {
  const auto used = [](std::string_view type, const char* other) {
    const Config config = tiny_config(row_of(type), "ForMaskedLM");
    auto weights = renamed(config, same);
    weights->add(other, Tensor(DType::f32, {96}));
    const Model model = make_model(config, weights, {});
    CHECK(unexpected_names(model).empty());
    for (const Weight& w : all_of<Weight>(model.parts[0].graph))
      if (w.ref.name.ends_with("decoder.bias") || w.ref.name.ends_with("predictions.bias"))
        return find_name(*model.checkpoint, w.ref);
    return std::string();
  };
  CHECK(used("bert", "cls.predictions.decoder.bias") == "cls.predictions.bias");
  CHECK(used("roberta", "lm_head.bias") == "lm_head.decoder.bias");
  CHECK(used("albert", "predictions.bias") == "predictions.decoder.bias");
}

TEST_CASE("RoBERTa's old files have the bias under one name") {
  const Config config = tiny_config(row_of("roberta"), "ForMaskedLM");
  const auto weights = renamed(
      config, [](const std::string& name) { return name == "lm_head.decoder.bias" ? "lm_head.bias" : name; });
  CHECK(unexpected_names(make_model(config, weights, {})).empty());
}

TEST_CASE("old, wrapped and head-less names are repaired for every row") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Config config = tiny_config(row, head);
    const std::string prefix = std::string(row.base_prefix) + ".";
    const auto wrapped = renamed(config, [](const std::string& name) { return "module._orig_mod." + name; });
    CHECK(unexpected_names(make_model(config, wrapped, {{}, true})).empty());
    const auto bare = renamed(config, [&](const std::string& name) {
      return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    });
    CHECK(unexpected_names(make_model(config, bare, {{}, true})).empty());
    const auto old = renamed(config, [](const std::string& name) {
      const std::size_t weight = name.find("LayerNorm.weight"), bias = name.find("LayerNorm.bias");
      if (weight != std::string::npos) return name.substr(0, weight) + "LayerNorm.gamma";
      return bias == std::string::npos ? name : name.substr(0, bias) + "LayerNorm.beta";
    });
    CHECK(unexpected_names(make_model(config, old, {{}, true})).empty());
  });
}

TEST_CASE("the base model is taken out of a model with a head") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Config config = tiny_config(row, head);
    const Model model = make_model(config, renamed(config, same), {"feature-extraction", false});
    CHECK(model.class_name == std::string(row.class_prefix) + "Model");
    CHECK(model.parts[0].graph.find_output("last_hidden_state").present());
  });
}

TEST_CASE("a head that the file lacks is not made up") {
  const Config base = Config::parse(
      R"({"model_type":"bert","architectures":["BertModel"],"hidden_size":4,"num_attention_heads":2,
          "num_hidden_layers":1,"intermediate_size":4,"vocab_size":6,"max_position_embeddings":5})",
      "config.json");
  const auto weights = renamed(base, same);
  const Caught c = error_of([&] { make_model(base, weights, {"text-classification", false}); });
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("2 weights are missing: \"classifier.weight\", \"classifier.bias\""), c.message);
}

TEST_CASE("a folder is loaded with its config, what is wrong is said in the order that it is read") {
  const TempDir folder;
  const auto failure = [&] { return error_of([&] { load_model(folder.path()); }); };
  CHECK(failure() == ErrorKind::not_found);
  CHECK(failure().says("config.json"));
  write_file(folder / "config.json", R"({"model_type":"xlnet","architectures":["XLNetLMHeadModel"]})");
  CHECK(failure() == ErrorKind::unsupported);
  CHECK(failure().says("class \"XLNetLMHeadModel\" is not supported"));
  write_file(folder / "config.json", R"({"model_type":"bert","quantization_config":{"bits":4}})");
  CHECK(failure().says("quantization_config"));
  write_file(folder / "config.json", kBert);
  CHECK(failure() == ErrorKind::not_found);
  CHECK(failure().says("has no weights"));

  const auto weights = renamed(bert(), same);
  std::vector<std::pair<std::string, TensorView>> views;
  for (const std::string& name : weights->names()) views.emplace_back(name, weights->view(name));
  safetensors::write(folder / "model.safetensors", views);
  const Model model = load_model(folder.path());
  CHECK(model.model_type == "bert");
  CHECK(model.class_name == "BertForMaskedLM");
  CHECK(model.task == "fill-mask");
  REQUIRE(model.parts.size() == 1);
  CHECK(model.parts[0].name == "model");
  CHECK(model.checkpoint->subject() == (folder / "model.safetensors").string());
}

}  // namespace hf::test
