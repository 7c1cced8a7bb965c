// What several architecture files share.
#pragma once
#include "arch/arch.h"

namespace hf {

// More layers than any model has: a config may not ask for a graph that fills the memory.
inline constexpr std::int64_t kMostLayers = 4096;

// The functions that transformers' ACT2FN names. A config's choice of one; another name is
// Error{unsupported}.
std::string activation_name(const Config& config, std::string_view field, std::string_view fallback);
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
  std::int64_t layers, heads, hidden, head_dim, ffn, vocabulary, types;
  std::string activation;
  float epsilon;
  bool causal;            // config.is_decoder
  std::string positions;  // "absolute", "relative_key", "relative_key_query"
  std::int64_t max_positions;
};
// What the config class says where the file does not.
struct EncoderDefaults {
  std::int64_t heads = 12, hidden = 768, ffn = 3072, vocabulary = 30522;
  std::string_view activation = "gelu";
};
// What keeps a norm from dividing by zero: from 0 to 1, or Error{integrity}.
float epsilon_of(const Config& config, std::string_view field, double fallback);
EncoderSizes encoder_sizes(const Config& config, const EncoderDefaults& defaults = {});

// BERT's stack of post-norm layers: b stands at "encoder". Observes hidden_states.0 … .layers.
Value bert_encoder(Builder b, Value x, Value visible, const EncoderSizes& sizes);

// Self-attention of one layer: b stands where query, key and value are.
Value bert_attention(Builder b, Value x, Value visible, const EncoderSizes& sizes);

// The words that a model knows: the table that embeds them and, in a language model, the projection back to
// them. Where the config ties the two they are one parameter, whichever of its names the file has.
struct Vocabulary {
  std::int64_t size = 0;
  std::string embedding;     // full names: the table,
  std::string weight, bias;  // the projection's own; empty: none
  std::string bias_alias;    // where the bias has a second name
  bool tied = false;
};
Vocabulary vocabulary(const Config& config, std::int64_t size, std::string embedding);

Value word_embeddings(Builder b, Value ids, const Vocabulary& words, const Dim& width);  // [.., width]
Value vocabulary_logits(Builder b, Value x, const Vocabulary& words);                    // [.., words.size]

// Rows 0 … sequence - 1 of a position table: [sequence, width].
Value first_positions(Builder b, std::string_view name, std::int64_t rows, const Dim& width,
                      const Dim& sequence);

// word + token type + position embeddings, normalized: b stands at "embeddings". `positions` is [rows or 1,
// sequence, width], or absent where the model has none.
Value embed(Builder b, const TextInputs& in, Value positions, const EncoderSizes& sizes,
            const Vocabulary& words, std::int64_t width);

// tanh of a dense layer over the first token, [rows, width]: what sentence heads read.
Value pooled(Builder b, Value x, std::string_view dense);

// Outputs of heads, b at the top: named as transformers and optimum name them.
void label_logits(Builder b, Value x, std::string_view name,
                  const Config& config);  // logits [.., num_labels]
void choice_logits(Builder b, Value pooled, std::string_view name,
                   const Dim& choices);                       // logits [batch, num_choices]
void span_logits(Builder b, Value x, std::string_view name);  // start_logits, end_logits
// The same for a class whose projection counts the config's labels: another number than 2 is refused.
void span_logits(Builder b, Value x, std::string_view name, const Config& config);

Dim batch_size();
Dim sequence_length();
Dim num_choices();

}  // namespace hf
