// ELECTRA (Clark et al. 2020): BERT's encoder over embeddings of their own width; the discriminator's head
// gives a logit a token, the generator's a vocabulary.
#include "arch/blocks.h"
#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

// transformers' ElectraSequenceSummary, before the classifier of multiple choice.
Value summary(Builder b, Value x, const Config& config, const EncoderSizes& sizes) {
  const std::string type = config.text("summary_type", "first");
  Value y;
  if (type == "first")
    y = b.select(x, 1, 0);
  else if (type == "last" || type == "cls_index")  // no cls_index is given: the last token
    y = b.select(x, 1, b.dim(x, 1) - Dim(1));
  else if (type == "mean")
    y = b.reduce(Reduce::mean, x, {1}, false);
  else
    throw Error(ErrorKind::unsupported,
                config.subject() + ": summary_type " + in_quotes(type) + " is not supported");
  if (config.flag("summary_use_proj", true)) {
    const bool to_labels = config.flag("summary_proj_to_labels", false);
    y = b.in("sequence_summary").linear(y, "summary", to_labels ? config.num_labels() : sizes.hidden);
  }
  // None where the config says null or "".
  if (config.is_null("summary_activation") || config.text("summary_activation", "gelu").empty()) return y;
  return activation(b, y, activation_name(config, "summary_activation", "gelu"));
}

Vocabulary known_words(const Config& config, const EncoderSizes& sizes, const Builder& base,
                       const Request& request) {
  Vocabulary words = vocabulary(config, sizes.vocabulary, base.name("embeddings.word_embeddings.weight"));
  if (request.head != "ForMaskedLM") return words;
  words.weight = "generator_lm_head.weight";
  words.bias = "generator_lm_head.bias";
  return words;
}

Value generator_logits(Builder b, Value x, const EncoderSizes& sizes, const Vocabulary& words,
                       std::int64_t width) {
  Builder head = b.in("generator_predictions");
  Value y = head.gelu(head.linear(x, "dense", width), Gelu::erf);
  y = head.layer_norm(y, "LayerNorm", sizes.epsilon);
  return vocabulary_logits(b.in("generator_lm_head"), y, words);
}

Value discriminator_logits(Builder b, Value x, const EncoderSizes& sizes) {
  Builder head = b.in("discriminator_predictions");
  const Value y = activation(head, head.linear(x, "dense", sizes.hidden), sizes.activation);
  return head.select(head.linear(y, "dense_prediction", 1), 2, 0);
}

}  // namespace

void electra(Builder b, const Config& config, const Request& request) {
  const EncoderSizes sizes = encoder_sizes(config, {.heads = 4, .hidden = 256, .ffn = 1024});
  const std::int64_t width = config.positive("embedding_size", 128);
  const Builder base = b.in(request.head == "Model" ? "" : "electra");
  const TextInputs in = text_inputs(b, request, TokenTypes::present);

  const Vocabulary words = known_words(config, sizes, base, request);

  const Builder embeddings = base.in("embeddings");
  Value positions;
  if (sizes.positions == "absolute")
    positions = first_positions(embeddings, "position_embeddings", sizes.max_positions, width, in.sequence);
  Value x = embed(embeddings, in, positions, sizes, words, width);
  Builder top = base;
  if (width != sizes.hidden) x = top.linear(x, "embeddings_project", sizes.hidden);
  x = bert_encoder(base.in("encoder"), x, in.visible, sizes);

  if (request.head == "Model") {
    b.output("last_hidden_state", x);
  } else if (request.head == "ForMaskedLM") {
    b.output("logits", generator_logits(b, x, sizes, words, width));
  } else if (request.head == "ForPreTraining") {
    b.output("logits", discriminator_logits(b, x, sizes));
  } else if (request.head == "ForMultipleChoice") {
    choice_logits(b, summary(b, x, config, sizes), "classifier", num_choices());
  } else if (request.head == "ForQuestionAnswering") {
    span_logits(b, x, "qa_outputs", config);
  } else if (request.head == "ForTokenClassification") {
    label_logits(b, x, "classifier", config);
  } else {  // ForSequenceClassification
    Builder head = b.in("classifier");
    const Value first = head.select(x, 1, 0);
    label_logits(head, head.gelu(head.linear(first, "dense", sizes.hidden), Gelu::erf), "out_proj", config);
  }
}

}  // namespace hf
