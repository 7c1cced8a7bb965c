// What several architecture files share.
#pragma once
#include "arch/arch.h"

namespace hf {

// The functions that transformers' ACT2FN names; another name is Error{unsupported}.
Value activation(Builder b, Value x, std::string_view name);

// The usual inputs of a text model, as optimum names them: input_ids, attention_mask and, where the model has
// them, token_type_ids, int64 [batch_size, sequence_length], for multiple-choice [batch_size, num_choices,
// sequence_length].
enum class TokenTypes { absent, present };
struct TextInputs {
  Value ids;      // int64 [rows, sequence_length]; rows = batch_size, times num_choices for multiple-choice
  Value types;    // likewise, absent where the model has none
  Value visible;  // bool [rows, 1, 1, sequence_length]: which keys may be attended to
  Dim rows, sequence;
};
TextInputs text_inputs(Builder b, const Request& request, TokenTypes types);

// The sizes of an encoder whose weights have BERT's names.
struct EncoderSizes {
  std::int64_t layers, heads, hidden, head_dim, ffn;
  std::string activation;
  float epsilon;
  bool causal;            // config.is_decoder
  std::string positions;  // "absolute", "relative_key", "relative_key_query"
  std::int64_t max_positions;
};
EncoderSizes encoder_sizes(const Config& config);

// BERT's stack of post-norm layers: b stands at "encoder". Observes hidden_states.0 … .layers.
Value bert_encoder(Builder b, Value x, Value visible, const EncoderSizes& sizes);

// Self-attention of one layer: b stands where query, key and value are.
Value bert_attention(Builder b, Value x, Value visible, const EncoderSizes& sizes);

// word + token type + position embeddings, normalized: b stands at "embeddings". `positions` is [rows or 1,
// sequence, width], or absent where the model has none.
Value embed(Builder b, const TextInputs& in, Value positions, const Config& config, std::int64_t width,
            float epsilon);

// The output projection of a masked or causal language model: logits [rows, sequence, vocab_size]. Where the
// config ties it, its weight is the word embedding `embedding` under whichever of the names the file has.
struct Vocabulary {
  std::string embedding;  // full name of the word embedding's weight
  std::string weight;     // full name of the projection's own
  std::string bias;       // full names; empty: none
  std::string bias_alias;
};
Value vocabulary_logits(Builder b, Value x, const Config& config, const Vocabulary& names);

// Outputs of heads, b at the top: named as transformers and optimum name them.
void label_logits(Builder b, Value x, std::string_view name,
                  const Config& config);  // logits [.., num_labels]
void choice_logits(Builder b, Value pooled, std::string_view name,
                   const Dim& choices);  // logits [batch, num_choices]
void span_logits(Builder b, Value x, std::string_view name,
                 const Config& config);  // start_logits, end_logits

Dim batch_size();
Dim sequence_length();
Dim num_choices();

}  // namespace hf
