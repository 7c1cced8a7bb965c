// ALBERT (Lan et al. 2020): BERT's layer with one set of weights a group, run again and again, over narrow
// embeddings.
#include "arch/blocks.h"

namespace hf {
namespace {

struct AlbertSizes {
  EncoderSizes encoder;
  std::int64_t width, groups, inner;
};

AlbertSizes read_sizes(const Config& config) {
  const EncoderDefaults defaults{
      .heads = 64, .hidden = 4096, .ffn = 16384, .vocabulary = 30000, .activation = "gelu_new"};
  AlbertSizes s{encoder_sizes(config, defaults), config.positive("embedding_size", 128),
                config.positive("num_hidden_groups", 1), 1};
  s.inner = config.positive("inner_group_num", 1, kMostLayers / s.encoder.layers);
  s.encoder.causal = false;  // its class does not read is_decoder
  return s;
}

Value layer(Builder b, Value x, Value visible, const EncoderSizes& s) {
  Builder attention = b.in("attention"), up = b.in("ffn");
  const Value mixed = bert_attention(attention, x, visible, s);
  const Value projected = attention.linear(mixed, "dense", s.hidden, {Split::inputs, s.head_dim});
  x = attention.layer_norm(attention.add(projected, x), "LayerNorm", s.epsilon);
  const Value wide = activation(up, up.linear(x, "", s.ffn, {Split::outputs}), s.activation);
  const Value down = b.linear(wide, "ffn_output", s.hidden, {Split::inputs});
  return b.layer_norm(b.add(down, x), "full_layer_layer_norm", s.epsilon);
}

Value encoder(Builder b, Value x, Value visible, const AlbertSizes& s) {
  x = b.linear(x, "embedding_hidden_mapping_in", s.encoder.hidden);
  b.observe("hidden_states.0", x);
  // Divided as transformers divides, so that rounding falls the same way.
  const double layers_a_group = static_cast<double>(s.encoder.layers) / static_cast<double>(s.groups);
  for (std::int64_t i = 0; i < s.encoder.layers; ++i) {
    const auto group = static_cast<int>(static_cast<double>(i) / layers_a_group);
    const Builder layers = b.in("albert_layer_groups", group);
    for (std::int64_t k = 0; k < s.inner; ++k) {
      const Builder shared = layers.in("albert_layers", static_cast<int>(k));
      x = layer(shared.at_layer(static_cast<int>(i * s.inner + k)), x, visible, s.encoder);
    }
    b.observe("hidden_states." + std::to_string(i + 1), x);
  }
  return x;
}

Vocabulary known_words(const Config& config, const AlbertSizes& s, const Builder& base,
                       const Request& request) {
  Vocabulary words = vocabulary(config, s.encoder.vocabulary, base.name("embeddings.word_embeddings.weight"));
  if (request.head != "ForMaskedLM" && request.head != "ForPreTraining") return words;
  words.weight = "predictions.decoder.weight";
  words.bias = "predictions.decoder.bias";  // wins over predictions.bias in transformers
  words.bias_alias = "predictions.bias";
  return words;
}

Value masked_logits(Builder b, Value x, const AlbertSizes& s, const Vocabulary& words) {
  Builder head = b.in("predictions");
  Value y = activation(head, head.linear(x, "dense", s.width), s.encoder.activation);
  y = head.layer_norm(y, "LayerNorm", s.encoder.epsilon);
  return vocabulary_logits(head, y, words);
}

}  // namespace

void albert(Builder b, const Config& config, const Request& request) {
  const AlbertSizes s = read_sizes(config);
  const Builder base = b.in(request.head == "Model" ? "" : "albert");
  const TextInputs in = text_inputs(b, request, TokenTypes::present);

  const Vocabulary words = known_words(config, s, base, request);

  const Builder embeddings = base.in("embeddings");
  Value positions;
  if (s.encoder.positions == "absolute")
    positions =
        first_positions(embeddings, "position_embeddings", s.encoder.max_positions, s.width, in.sequence);
  const Value embedded = embed(embeddings, in, positions, s.encoder, words, s.width);
  const Value x = encoder(base.in("encoder"), embedded, in.visible, s);

  if (request.head == "Model") {
    b.output("last_hidden_state", x);
    if (request.all_outputs) b.output("pooler_output", pooled(base, x, "pooler"));
  } else if (request.head == "ForMaskedLM") {
    b.output("logits", masked_logits(b, x, s, words));
  } else if (request.head == "ForPreTraining") {
    b.output("prediction_logits", masked_logits(b, x, s, words));
    b.output("sop_logits",
             b.in("sop_classifier").linear(pooled(base, x, "pooler"), "classifier", config.num_labels()));
  } else if (request.head == "ForMultipleChoice") {
    choice_logits(b, pooled(base, x, "pooler"), "classifier", num_choices());
  } else if (request.head == "ForQuestionAnswering") {
    span_logits(b, x, "qa_outputs", config);
  } else {  // ForSequenceClassification, ForTokenClassification
    const bool sentence = request.head == "ForSequenceClassification";
    label_logits(b, sentence ? pooled(base, x, "pooler") : x, "classifier", config);
  }
}

}  // namespace hf
