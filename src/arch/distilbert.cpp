// DistilBERT (Sanh et al. 2019): BERT's encoder with names of its own, no token types, no pooler.
#include <cmath>

#include "arch/blocks.h"
#include "base/error.h"

namespace hf {
namespace {

constexpr float kEpsilon = 1e-12f;  // fixed in transformers' class, not in the config

struct DistilBertSizes {
  std::int64_t layers, heads, dim, head_dim, ffn, vocabulary, positions;
  std::string activation;
};

DistilBertSizes read_sizes(const Config& config) {
  DistilBertSizes s{};
  // Where a file has both names of a size, the common one wins in transformers (attribute_map).
  s.layers = config.positive("num_hidden_layers", config.integer("n_layers", 6), kMostLayers);
  s.heads = config.positive("num_attention_heads", config.integer("n_heads", 12));
  s.dim = config.positive("hidden_size", config.integer("dim", 768));
  s.ffn = config.positive("hidden_dim", 3072);
  s.vocabulary = config.positive("vocab_size", 30522);
  s.positions = config.positive("max_position_embeddings", 512);
  s.activation = activation_name(config, "activation", "gelu");
  if (s.dim % s.heads != 0)
    throw Error(ErrorKind::integrity, config.subject() + ": dim " + std::to_string(s.dim) +
                                          " is not a multiple of n_heads " + std::to_string(s.heads));
  s.head_dim = s.dim / s.heads;
  return s;
}

Value attention(Builder b, Value x, Value visible, const DistilBertSizes& s) {
  const Split heads{Split::outputs, s.head_dim};
  const Value q = b.linear(x, "q_lin", s.dim, heads);
  const Value k = b.split_heads(b.linear(x, "k_lin", s.dim, heads), s.head_dim);
  const Value v = b.split_heads(b.linear(x, "v_lin", s.dim, heads), s.head_dim);
  const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_dim)));
  const Value mixed = b.attention(q, k, v, {}, visible, {s.head_dim, scale});
  return b.linear(mixed, "out_lin", s.dim, {Split::inputs, s.head_dim});
}

Value encoder(Builder b, Value x, Value visible, const DistilBertSizes& s) {
  b.observe("hidden_states.0", x);
  for (int i = 0; i < s.layers; ++i) {
    Builder layer = b.in("transformer.layer", i), ffn = layer.in("ffn");
    const Value mixed = attention(layer.in("attention"), x, visible, s);
    x = layer.layer_norm(layer.add(mixed, x), "sa_layer_norm", kEpsilon);
    const Value up = activation(ffn, ffn.linear(x, "lin1", s.ffn, {Split::outputs}), s.activation);
    const Value down = ffn.linear(up, "lin2", s.dim, {Split::inputs});
    x = layer.layer_norm(layer.add(down, x), "output_layer_norm", kEpsilon);
    b.observe("hidden_states." + std::to_string(i + 1), x);
  }
  return x;
}

// Sinusoidal positions (sinusoidal_pos_embds) are in the file like learned ones.
Value embedded(Builder b, const TextInputs& in, const Vocabulary& vocabulary, const DistilBertSizes& s) {
  const Value words = word_embeddings(b.in("word_embeddings"), in.ids, vocabulary, s.dim);
  const Value places = first_positions(b, "position_embeddings", s.positions, s.dim, in.sequence);
  return b.layer_norm(b.add(words, places), "LayerNorm", kEpsilon);
}

}  // namespace

void distilbert(Builder b, const Config& config, const Request& request) {
  const DistilBertSizes s = read_sizes(config);
  const Builder base = b.in(request.head == "Model" ? "" : "distilbert");
  const TextInputs in = text_inputs(b, request, TokenTypes::absent);
  Vocabulary words = vocabulary(config, s.vocabulary, base.name("embeddings.word_embeddings.weight"));
  if (request.head == "ForMaskedLM") {
    words.weight = "vocab_projector.weight";
    words.bias = "vocab_projector.bias";
  }
  const Value x = encoder(base, embedded(base.in("embeddings"), in, words, s), in.visible, s);
  const auto classified = [&] {
    const Value first = b.select(x, 1, 0);
    return b.unary(Unary::relu, b.linear(first, "pre_classifier", s.dim));
  };

  if (request.head == "Model") {
    b.output("last_hidden_state", x);
  } else if (request.head == "ForMaskedLM") {
    Value y = activation(b.in("vocab_transform"), b.linear(x, "vocab_transform", s.dim), s.activation);
    y = b.layer_norm(y, "vocab_layer_norm", kEpsilon);
    b.output("logits", vocabulary_logits(b.in("vocab_projector"), y, words));
  } else if (request.head == "ForMultipleChoice") {
    choice_logits(b, classified(), "classifier", num_choices());
  } else if (request.head == "ForQuestionAnswering") {
    span_logits(b, x, "qa_outputs", config);
  } else {  // ForSequenceClassification, ForTokenClassification
    label_logits(b, request.head == "ForSequenceClassification" ? classified() : x, "classifier", config);
  }
}

}  // namespace hf
