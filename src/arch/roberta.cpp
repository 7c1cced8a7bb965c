// RoBERTa (Liu et al. 2019), XLM-RoBERTa and CamemBERT: BERT's encoder; positions count the tokens that are
// not padding, from pad_token_id + 1; every token has type 0.
#include "arch/blocks.h"

namespace hf {
namespace {

// cumsum(ids != pad) * (ids != pad) + pad
Value position_ids(Builder b, Value ids, std::int64_t pad) {
  const Value padding = b.integer(pad);
  const Value is_padding = b.compare(Compare::equal, ids, padding);
  const Value real = b.cast(b.unary(Unary::logical_not, is_padding), DType::i64);
  const Value count = b.op(CumSum{1}, {real});
  return b.add(b.mul(count, real), padding);
}

Vocabulary known_words(const Config& config, const EncoderSizes& sizes, const Builder& base,
                       const Request& request) {
  Vocabulary words = vocabulary(config, sizes.vocabulary, base.name("embeddings.word_embeddings.weight"));
  if (request.head != "ForMaskedLM") return words;
  words.weight = "lm_head.decoder.weight";
  words.bias = "lm_head.decoder.bias";  // wins over lm_head.bias in transformers, where a file has both
  words.bias_alias = "lm_head.bias";
  return words;
}

Value masked_logits(Builder b, Value x, const EncoderSizes& sizes, const Vocabulary& words) {
  Builder head = b.in("lm_head");
  Value y = head.gelu(head.linear(x, "dense", sizes.hidden), Gelu::erf);
  y = head.layer_norm(y, "layer_norm", sizes.epsilon);
  return vocabulary_logits(head, y, words);
}

// The three differ in what their config class says where the file does not.
void write(Builder b, const Config& config, const Request& request, const EncoderDefaults& defaults) {
  const EncoderSizes sizes = encoder_sizes(config, defaults);
  const Builder base = b.in(request.head == "Model" ? "" : "roberta");
  const TextInputs in = text_inputs(b, request, TokenTypes::absent);

  const Vocabulary words = known_words(config, sizes, base, request);

  Builder embeddings = base.in("embeddings");
  Value positions;
  if (sizes.positions == "absolute") {
    const Value ids = position_ids(embeddings, in.ids, config.integer("pad_token_id", 1));
    positions = embeddings.embedding(ids, "position_embeddings", sizes.max_positions, sizes.hidden);
  }
  const Value embedded = embed(embeddings, in, positions, sizes, words, sizes.hidden);
  const Value x = bert_encoder(base.in("encoder"), embedded, in.visible, sizes);

  if (request.head == "Model") {
    b.output("last_hidden_state", x);
    if (request.all_outputs) b.output("pooler_output", pooled(base.in("pooler"), x, "dense"));
  } else if (request.head == "ForMaskedLM") {
    b.output("logits", masked_logits(b, x, sizes, words));
  } else if (request.head == "ForMultipleChoice") {
    choice_logits(b, pooled(base.in("pooler"), x, "dense"), "classifier", num_choices());
  } else if (request.head == "ForQuestionAnswering") {
    span_logits(b, x, "qa_outputs", config);
  } else if (request.head == "ForTokenClassification") {
    label_logits(b, x, "classifier", config);
  } else {  // ForSequenceClassification
    const Builder head = b.in("classifier");
    label_logits(head, pooled(head, x, "dense"), "out_proj", config);
  }
}

}  // namespace

void roberta(Builder b, const Config& config, const Request& request) {
  write(b, config, request, {.vocabulary = 50265});
}

void xlm_roberta(Builder b, const Config& config, const Request& request) {  // CamemBERT too
  write(b, config, request, {});
}

}  // namespace hf
