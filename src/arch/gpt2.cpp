// GPT-2 (Radford et al. 2019): pre-norm decoder, learned positions. Its projections are stored [in, out]
// (Conv1D), q, k and v side by side in one.
#include <cmath>
#include <limits>

#include "arch/blocks.h"
#include "base/error.h"

namespace hf {
namespace {

struct Gpt2Sizes {
  std::int64_t layers, heads, hidden, head_dim, ffn, positions, vocabulary;
  std::string activation;
  float epsilon;
  bool scale, scale_by_layer;
};

Gpt2Sizes read_sizes(const Config& config) {
  Gpt2Sizes s{};
  // Where a file has both names of a size, the common one wins in transformers (attribute_map).
  s.layers = config.positive("num_hidden_layers", config.integer("n_layer", 12), kMostLayers);
  s.heads = config.positive("num_attention_heads", config.integer("n_head", 12));
  s.hidden = config.positive("hidden_size", config.integer("n_embd", 768));
  s.ffn = config.positive("n_inner", 4 * s.hidden);
  s.positions = config.positive("max_position_embeddings", config.integer("n_positions", 1024));
  s.vocabulary = config.positive("vocab_size", 50257);
  s.activation = activation_name(config, "activation_function", "gelu_new");
  s.epsilon = epsilon_of(config, "layer_norm_epsilon", 1e-5);
  s.scale = config.flag("scale_attn_weights", true);
  s.scale_by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  if (s.hidden % s.heads != 0)
    throw Error(ErrorKind::integrity, config.subject() + ": n_embd " + std::to_string(s.hidden) +
                                          " is not a multiple of n_head " + std::to_string(s.heads));
  s.head_dim = s.hidden / s.heads;
  return s;
}

// The outputs of a Conv1D that are wanted: all of them, or a part where several projections lie side by side.
struct Outputs {
  std::int64_t begin, end;
  bool part = false;
};

// A Conv1D as a linear layer: its weight [in, all outputs] is read transposed.
Value conv1d(Builder b, Value x, std::string_view name, Outputs out, Split split) {
  Builder here = b.in(name);
  View columns{{}, {}, {1, 0}}, part;
  if (out.part) {
    columns.ranges = {{1, out.begin, out.end}};
    part.ranges = {{0, out.begin, out.end}};
  }
  const std::int64_t count = out.end - out.begin;
  const Value w = here.weight(TensorRef{here.name("weight"), {}, columns}, {count, b.dim(x, -1)}, split);
  const Split bias_split = split.kind == Split::outputs ? split : Split{};
  const Value bias = here.weight(TensorRef{here.name("bias"), {}, part}, {count}, bias_split);
  return here.linear(x, w, bias, split);
}

Value attention(Builder b, Value x, Value bias, const Gpt2Sizes& s, int layer) {
  const std::int64_t n = s.hidden;
  const Split heads{Split::outputs, s.head_dim};
  const Value q = conv1d(b, x, "c_attn", {0, n, true}, heads);
  const Value k = b.split_heads(conv1d(b, x, "c_attn", {n, 2 * n, true}, heads), s.head_dim);
  const Value v = b.split_heads(conv1d(b, x, "c_attn", {2 * n, 3 * n, true}, heads), s.head_dim);
  double scale = s.scale ? 1 / std::sqrt(static_cast<double>(s.head_dim)) : 1;
  if (s.scale_by_layer) scale /= layer + 1;
  const Value mixed = b.attention(q, k, v, bias, {}, {s.head_dim, static_cast<float>(scale)});
  return conv1d(b, mixed, "c_proj", {0, n}, {Split::inputs, s.head_dim});
}

// transformers masks GPT-2's future twice, by where() and again in the mask that it adds: lowest + lowest is
// -infinity, so that even a row whose keys are all padding attends to nothing behind it. Padding alone adds
// the lowest value.
Value score_bias(Builder b, Value visible, const Dim& sequence) {
  const Value keys = b.range(0, sequence);
  const Value queries = b.reshape(keys, {sequence, 1});
  const Value past = b.compare(Compare::less_or_equal, keys, queries);
  const Value padding = b.where(visible, b.number(0), b.number(std::numeric_limits<float>::lowest()));
  return b.where(past, padding, b.number(-std::numeric_limits<float>::infinity()));
}

// The rightmost token that is not padding: index [batch], 0 where there is none.
Value last_token(Builder b, Value ids, std::int64_t pad) {
  const Value padding = b.compare(Compare::equal, ids, b.integer(pad));
  const Value real = b.cast(b.unary(Unary::logical_not, padding), DType::i64);
  const Value index = b.mul(b.range(0, b.dim(ids, 1)), real);
  return b.reduce(Reduce::maximum, index, {1}, false);
}

// x[i, index[i]]: one row of each batch entry.
Value rows_at(Builder b, Value x, Value index) {
  const Value one = b.compare(Compare::equal, b.range(0, b.dim(x, 1)), b.reshape(index, {b.dim(x, 0), 1}));
  const Value chosen = b.reshape(one, {b.dim(x, 0), b.dim(x, 1), 1});
  return b.reduce(Reduce::sum, b.where(chosen, x, b.number(0)), {1}, false);
}

Value decoder(Builder base, Value x, Value bias, const Gpt2Sizes& s) {
  for (int i = 0; i < s.layers; ++i) {
    base.observe("hidden_states." + std::to_string(i), x);
    Builder block = base.in("h", i), mlp = block.in("mlp");
    const Value n = block.layer_norm(x, "ln_1", s.epsilon);
    x = block.add(attention(block.in("attn"), n, bias, s, i), x);
    const Value m = block.layer_norm(x, "ln_2", s.epsilon);
    const Value up = conv1d(mlp, m, "c_fc", {0, s.ffn}, {Split::outputs});
    const Value wide = activation(mlp, up, s.activation);
    const Value down = conv1d(mlp, wide, "c_proj", {0, s.hidden}, {Split::inputs});
    x = block.add(x, down);
  }
  x = base.layer_norm(x, "ln_f", s.epsilon);
  base.observe("hidden_states." + std::to_string(s.layers), x);
  return x;
}

}  // namespace

void gpt2(Builder b, const Config& config, const Request& request) {
  const Gpt2Sizes s = read_sizes(config);
  Builder base = b.in(request.head == "Model" ? "" : "transformer");
  const TextInputs in = text_inputs(b, request, TokenTypes::absent);

  Vocabulary known = vocabulary(config, s.vocabulary, base.name("wte.weight"));
  if (request.head == "LMHeadModel") known.weight = "lm_head.weight";
  const Value words = word_embeddings(base.in("wte"), in.ids, known, s.hidden);
  Value places;
  if (request.task == "text-generation" || request.task == "feature-extraction") {  // as optimum has it
    const Value ids = b.input("position_ids", DType::i64, {in.rows, in.sequence});
    places = base.embedding(ids, "wpe", s.positions, s.hidden);
  } else {
    places = first_positions(base, "wpe", s.positions, s.hidden, in.sequence);
  }
  const Value x = decoder(base, base.add(words, places), score_bias(base, in.visible, in.sequence), s);

  if (request.head == "Model") {
    b.output("last_hidden_state", x);
  } else if (request.head == "LMHeadModel") {
    b.output("logits", vocabulary_logits(b.in("lm_head"), x, known));
  } else if (request.head == "ForQuestionAnswering") {
    span_logits(b, x, "qa_outputs");  // two whatever the config's labels
  } else if (request.head == "ForTokenClassification") {
    label_logits(b, x, "classifier", config);
  } else {  // ForSequenceClassification
    const Value scores = b.linear(x, "score", config.num_labels(), {}, Bias::absent);
    const bool padded = config.has("pad_token_id");
    b.output("logits", padded ? rows_at(b, scores, last_token(b, in.ids, config.integer("pad_token_id")))
                              : b.select(scores, 1, in.sequence - Dim(1)));
  }
}

}  // namespace hf
