#include "arch/blocks.h"

#include <cmath>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

Value quick_gelu(Builder b, Value x) {
  const Value gate = b.unary(Unary::sigmoid, b.mul(x, b.number(1.702f)));
  return b.mul(x, gate);
}

Value silu(Builder b, Value x) { return b.mul(x, b.unary(Unary::sigmoid, x)); }

Value squared_relu(Builder b, Value x) {
  const Value r = b.unary(Unary::relu, x);
  return b.mul(r, r);
}

struct ActivationRow {
  std::string_view name;
  Value (*build)(Builder, Value);
};

Value erf_gelu(Builder b, Value x) { return b.gelu(x, Gelu::erf); }
Value tanh_gelu(Builder b, Value x) { return b.gelu(x, Gelu::tanh); }

constexpr ActivationRow kActivations[] = {
    {"gelu", erf_gelu},
    {"gelu_python", erf_gelu},
    {"gelu_new", tanh_gelu},
    {"gelu_fast", tanh_gelu},
    {"gelu_accurate", tanh_gelu},
    {"gelu_pytorch_tanh", tanh_gelu},
    {"gelu_python_tanh", tanh_gelu},
    {"quick_gelu", quick_gelu},
    {"relu", [](Builder b, Value x) { return b.unary(Unary::relu, x); }},
    {"relu2", squared_relu},
    {"silu", silu},
    {"swish", silu},
    {"tanh", [](Builder b, Value x) { return b.tanh(x); }},
    {"sigmoid", [](Builder b, Value x) { return b.unary(Unary::sigmoid, x); }},
    {"linear", [](Builder, Value x) { return x; }},
};

// Scores that depend on the distance between query and key (Shaw et al. 2018, Huang et al. 2020), before
// scaling: "bhld,lrd->bhlr" with the distance embeddings [2 max_positions - 1, head_dim] gathered to [l, r,
// d]. With `by_query` heads are q's and the result is for each query l: [l, b·h, d] x [l, d, r]; else k's,
// for each key r.
Value distance_scores(Builder b, Value heads, Value table, bool by_query) {
  const Shape shape = b.shape(heads);
  const Dim& s = shape[2];
  const Value rows = b.reshape(b.transpose(heads, {2, 0, 1, 3}), {s, -1, shape[3]});
  const Value columns = b.transpose(table, by_query ? std::vector<int>{0, 2, 1} : std::vector<int>{1, 2, 0});
  const Value scores = b.reshape(b.op(MatMul{}, {rows, columns}), {s, shape[0], -1, s});
  return b.transpose(scores, by_query ? std::vector<int>{1, 2, 0, 3} : std::vector<int>{1, 2, 3, 0});
}

Value distance_bias(Builder b, Value q, Value k, const EncoderSizes& sizes, float scale) {
  const Dim s = b.dim(k, 2);
  const Value positions = b.range(0, s);
  const Value distance = b.sub(b.reshape(positions, {s, 1}), positions);
  const Value row = b.add(distance, b.integer(sizes.max_positions - 1));
  const Value table = b.embedding(row, "distance_embedding", 2 * sizes.max_positions - 1, sizes.head_dim);
  Value scores = distance_scores(b, b.split_heads(q, sizes.head_dim), table, true);
  if (sizes.positions == "relative_key_query") scores = b.add(scores, distance_scores(b, k, table, false));
  return b.mul(scores, b.number(scale));
}

}  // namespace

Dim batch_size() { return Dim::symbol("batch_size"); }
Dim sequence_length() { return Dim::symbol("sequence_length"); }
Dim num_choices() { return Dim::symbol("num_choices"); }

std::string activation_name(const Config& config, std::string_view field, std::string_view fallback) {
  std::string name = config.text(field, fallback), known;
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return name;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(ErrorKind::unsupported, config.subject() + ": " + in_quotes(field) + " is " + in_quotes(name) +
                                          ", one of " + known + " is expected");
}

Value activation(Builder b, Value x, std::string_view name) {
  for (const ActivationRow& row : kActivations)
    if (row.name == name) return row.build(b, x);
  throw Error(ErrorKind::internal, "no activation " + in_quotes(name));
}

TextInputs text_inputs(Builder b, const Request& request, TokenTypes types) {
  const bool choices = request.task == "multiple-choice";
  const Shape shape = choices ? Shape{batch_size(), num_choices(), sequence_length()}
                              : Shape{batch_size(), sequence_length()};
  TextInputs in;
  in.rows = choices ? batch_size() * num_choices() : batch_size();
  in.sequence = sequence_length();
  const auto flat = [&](Value v) { return choices ? b.reshape(v, {in.rows, in.sequence}) : v; };
  const Value ids = b.input("input_ids", DType::i64, shape);
  const Value mask = b.input("attention_mask", DType::i64, shape);
  if (types == TokenTypes::present) in.types = flat(b.input("token_type_ids", DType::i64, shape));
  in.ids = flat(ids);
  in.visible = b.reshape(b.cast(mask, DType::boolean), {in.rows, 1, 1, in.sequence});
  return in;
}

float epsilon_of(const Config& config, std::string_view field, double fallback) {
  const double value = config.number(field, fallback);
  if (value >= 0 && value <= 1) return static_cast<float>(value);
  throw Error(ErrorKind::integrity, config.subject() + ": " + in_quotes(field) + " is " +
                                        std::to_string(value) + ", a number from 0 to 1 is expected");
}

EncoderSizes encoder_sizes(const Config& config, const EncoderDefaults& defaults) {
  EncoderSizes s{};
  s.layers = config.positive("num_hidden_layers", 12, kMostLayers);
  s.heads = config.positive("num_attention_heads", defaults.heads);
  s.hidden = config.positive("hidden_size", defaults.hidden);
  s.ffn = config.positive("intermediate_size", defaults.ffn);
  s.vocabulary = config.positive("vocab_size", defaults.vocabulary);
  s.types = config.positive("type_vocab_size", 2);
  s.activation = activation_name(config, "hidden_act", defaults.activation);
  s.epsilon = epsilon_of(config, "layer_norm_eps", 1e-12);
  s.causal = config.flag("is_decoder", false);
  s.positions = config.text("position_embedding_type", "absolute");
  s.max_positions = config.positive("max_position_embeddings", 512);
  if (s.hidden % s.heads != 0)
    throw Error(ErrorKind::integrity, config.subject() + ": hidden_size " + std::to_string(s.hidden) +
                                          " is not a multiple of num_attention_heads " +
                                          std::to_string(s.heads));
  s.head_dim = s.hidden / s.heads;
  if (s.positions != "absolute" && s.positions != "relative_key" && s.positions != "relative_key_query")
    throw Error(ErrorKind::unsupported, config.subject() + ": position_embedding_type " +
                                            in_quotes(s.positions) + " is not supported");
  return s;
}

Value bert_attention(Builder b, Value x, Value visible, const EncoderSizes& sizes) {
  const Split heads{Split::outputs, sizes.head_dim};
  const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.head_dim)));
  const Value q = b.linear(x, "query", sizes.hidden, heads);
  const Value k = b.split_heads(b.linear(x, "key", sizes.hidden, heads), sizes.head_dim);
  const Value v = b.split_heads(b.linear(x, "value", sizes.hidden, heads), sizes.head_dim);
  const Value bias = sizes.positions == "absolute" ? Value{} : distance_bias(b, q, k, sizes, scale);
  return b.attention(q, k, v, bias, visible, {sizes.head_dim, scale, sizes.causal});
}

Value bert_encoder(Builder b, Value x, Value visible, const EncoderSizes& sizes) {
  b.observe("hidden_states.0", x);
  for (int i = 0; i < sizes.layers; ++i) {
    const Builder layer = b.in("layer", i);
    Builder attended = layer.in("attention.output"), wide = layer.in("intermediate.dense"),
            out = layer.in("output");
    const Value mixed = bert_attention(layer.in("attention.self"), x, visible, sizes);
    const Value projected = attended.linear(mixed, "dense", sizes.hidden, {Split::inputs, sizes.head_dim});
    x = attended.layer_norm(attended.add(projected, x), "LayerNorm", sizes.epsilon);
    const Value up = activation(wide, wide.linear(x, "", sizes.ffn, {Split::outputs}), sizes.activation);
    const Value down = out.linear(up, "dense", sizes.hidden, {Split::inputs});
    x = out.layer_norm(out.add(down, x), "LayerNorm", sizes.epsilon);
    b.observe("hidden_states." + std::to_string(i + 1), x);
  }
  return x;
}

Vocabulary vocabulary(const Config& config, std::int64_t size, std::string embedding) {
  Vocabulary words;
  words.size = size;
  words.embedding = std::move(embedding);
  words.tied = config.flag("tie_word_embeddings", true);
  return words;
}

namespace {

TensorRef table_of(const Vocabulary& words) {
  TensorRef ref{words.embedding, {}, {}};
  if (words.tied && !words.weight.empty()) ref.aliases.push_back(words.weight);
  return ref;
}

}  // namespace

Value word_embeddings(Builder b, Value ids, const Vocabulary& words, const Dim& width) {
  const Value table = b.weight(table_of(words), {words.size, width});
  return b.gather(table, ids, 0);
}

Value first_positions(Builder b, std::string_view name, std::int64_t rows, const Dim& width,
                      const Dim& sequence) {
  Builder here = b.in(name);
  const Value table = here.weight("weight", {rows, width});
  return here.slice(table, 0, 0, sequence);
}

Value embed(Builder b, const TextInputs& in, Value positions, const EncoderSizes& sizes,
            const Vocabulary& words, std::int64_t width) {
  const Value embedded = word_embeddings(b.in("word_embeddings"), in.ids, words, width);
  const Dim kinds = sizes.types;
  // Without token types as input every token has type 0.
  const Value types = in.types.present()
                          ? b.embedding(in.types, "token_type_embeddings", kinds, width)
                          : b.slice(b.in("token_type_embeddings").weight("weight", {kinds, width}), 0, 0, 1);
  Value x = b.add(embedded, types);
  if (positions.present()) x = b.add(x, positions);
  return b.layer_norm(x, "LayerNorm", sizes.epsilon);
}

Value vocabulary_logits(Builder b, Value x, const Vocabulary& words) {
  const TensorRef ref = words.tied ? table_of(words) : TensorRef{words.weight, {}, {}};
  const Split split{Split::outputs};
  const Value w = b.weight(ref, {words.size, b.dim(x, -1)}, split);
  Value bias;
  if (!words.bias.empty()) {
    TensorRef bias_ref{words.bias, {}, {}};
    if (!words.bias_alias.empty()) bias_ref.aliases.push_back(words.bias_alias);
    bias = b.weight(std::move(bias_ref), {words.size}, split);
  }
  return b.linear(x, w, bias, split);
}

Value pooled(Builder b, Value x, std::string_view dense) {
  const Value first = b.select(x, 1, 0);
  return b.tanh(b.linear(first, dense, b.dim(x, -1)));
}

void label_logits(Builder b, Value x, std::string_view name, const Config& config) {
  b.output("logits", b.linear(x, name, config.num_labels()));
}

void choice_logits(Builder b, Value pooled, std::string_view name, const Dim& choices) {
  b.output("logits", b.reshape(b.linear(pooled, name, 1), {batch_size(), choices}));
}

void span_logits(Builder b, Value x, std::string_view name, const Config& config) {
  const std::int64_t labels = config.num_labels();
  if (labels != 2)
    throw Error(ErrorKind::integrity, config.subject() + ": has " + std::to_string(labels) +
                                          " labels, question answering needs 2 (start and end)");
  span_logits(b, x, name);
}

void span_logits(Builder b, Value x, std::string_view name) {
  const Value both = b.linear(x, name, 2);
  b.output("start_logits", b.select(both, 2, 0));
  b.output("end_logits", b.select(both, 2, 1));
}

}  // namespace hf
