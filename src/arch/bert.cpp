// BERT (Devlin et al. 2019): post-norm encoder, learned positions, token types, pooler on the first token.
#include "arch/blocks.h"

namespace hf {
namespace {

Vocabulary known_words(const Config& config, const EncoderSizes& sizes, const Builder& base,
                       const Request& request) {
  Vocabulary words = vocabulary(config, sizes.vocabulary, base.name("embeddings.word_embeddings.weight"));
  if (request.head != "ForMaskedLM" && request.head != "ForPreTraining") return words;
  words.weight = "cls.predictions.decoder.weight";
  words.bias = "cls.predictions.bias";  // transformers lets the decoder take this one
  words.bias_alias = "cls.predictions.decoder.bias";
  return words;
}

Value masked_logits(Builder b, Value x, const EncoderSizes& sizes, const Vocabulary& words) {
  const Builder head = b.in("cls.predictions");
  Builder transform = head.in("transform");
  Value y = activation(transform, transform.linear(x, "dense", sizes.hidden), sizes.activation);
  y = transform.layer_norm(y, "LayerNorm", sizes.epsilon);
  return vocabulary_logits(head, y, words);
}

Value next_sentence_logits(Builder b, Value pooled) {
  return b.in("cls").linear(pooled, "seq_relationship", 2);
}

}  // namespace

void bert(Builder b, const Config& config, const Request& request) {
  const EncoderSizes sizes = encoder_sizes(config);
  const Builder base = b.in(request.head == "Model" ? "" : "bert");
  const TextInputs in = text_inputs(b, request, TokenTypes::present);

  const Vocabulary words = known_words(config, sizes, base, request);

  const Builder embeddings = base.in("embeddings");
  Value positions;
  if (sizes.positions == "absolute")
    positions =
        first_positions(embeddings, "position_embeddings", sizes.max_positions, sizes.hidden, in.sequence);
  const Value embedded = embed(embeddings, in, positions, sizes, words, sizes.hidden);
  const Value x = bert_encoder(base.in("encoder"), embedded, in.visible, sizes);

  if (request.head == "Model") {
    b.output("last_hidden_state", x);
    if (request.all_outputs) b.output("pooler_output", pooled(base.in("pooler"), x, "dense"));
  } else if (request.head == "ForMaskedLM") {
    b.output("logits", masked_logits(b, x, sizes, words));
  } else if (request.head == "ForPreTraining") {
    b.output("prediction_logits", masked_logits(b, x, sizes, words));
    b.output("seq_relationship_logits", next_sentence_logits(b, pooled(base.in("pooler"), x, "dense")));
  } else if (request.head == "ForNextSentencePrediction") {
    b.output("logits", next_sentence_logits(b, pooled(base.in("pooler"), x, "dense")));
  } else if (request.head == "ForMultipleChoice") {
    choice_logits(b, pooled(base.in("pooler"), x, "dense"), "classifier", num_choices());
  } else if (request.head == "ForQuestionAnswering") {
    span_logits(b, x, "qa_outputs", config);
  } else {  // ForSequenceClassification, ForTokenClassification
    label_logits(b, request.head == "ForSequenceClassification" ? pooled(base.in("pooler"), x, "dense") : x,
                 "classifier", config);
  }
}

}  // namespace hf
