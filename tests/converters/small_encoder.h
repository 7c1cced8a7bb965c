// A small masked language model by hand, with the weights that it names: enough to have each kind of node
// that an encoder's file has, without a checkpoint.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "arch/arch.h"

namespace hf::test {

// Values in [-0.5, 0.5) that depend on the name alone.
inline Tensor made_up(const std::string& name, const Sizes& shape) {
  Tensor t(DType::f32, shape);
  std::uint64_t state = 1469598103934665603u;  // FNV-1a of the name, then xorshift
  for (const char c : name) state = (state ^ static_cast<unsigned char>(c)) * 1099511628211u;
  for (float& x : t.as<float>()) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    x = static_cast<float>(state >> 40) / static_cast<float>(1 << 24) - 0.5f;
  }
  return t;
}

// A tensor for each weight that is read as it is stored; `add` more for those that are read through views.
inline std::shared_ptr<TensorMap> made_up_weights(const Graph& graph) {
  auto map = std::make_shared<TensorMap>();
  for (const Node& node : graph.nodes) {
    const auto* weight = std::get_if<Weight>(&node.op);
    if (weight == nullptr || !weight->ref.view.is_identity() || map->has(weight->ref.name)) continue;
    map->add(weight->ref.name, made_up(weight->ref.name, to_sizes(node.outputs[0].shape)));
  }
  return map;
}

struct EncoderSizes {
  std::int64_t vocabulary = 40, positions = 16, hidden = 12, heads = 3, feed_forward = 24;
  int layers = 2;
};

inline Value encoder_layer(Builder b, Value x, Value mask, const EncoderSizes& s) {
  const Builder attention = b.in("attention");
  const std::int64_t head_dim = s.hidden / s.heads;
  const Value q = attention.in("self").linear(x, "query", s.hidden);
  const Value k0 = attention.in("self").linear(x, "key", s.hidden);
  const Value k = attention.in("self").split_heads(k0, head_dim);
  const Value v0 = attention.in("self").linear(x, "value", s.hidden);
  const Value v = attention.in("self").split_heads(v0, head_dim);
  const Value mixed = attention.in("self").attention(q, k, v, {}, mask, {head_dim, 0.5f});
  const Value projected = attention.in("output").linear(mixed, "dense", s.hidden);
  const Value sum = attention.in("output").add(projected, x);
  const Value normal = attention.in("output").layer_norm(sum, "LayerNorm", 1e-12f);
  const Value up = b.in("intermediate").linear(normal, "dense", s.feed_forward);
  const Value active = b.in("intermediate").gelu(up, Gelu::erf);
  const Value down = b.in("output").linear(active, "dense", s.hidden);
  const Value residual = b.in("output").add(down, normal);
  return b.in("output").layer_norm(residual, "LayerNorm", 1e-12f);
}

inline Graph small_encoder_graph(const EncoderSizes& s = {}) {
  Graph graph;
  const Builder b(graph);
  const Dim batch = Dim::symbol("batch_size"), sequence = Dim::symbol("sequence_length");
  Builder root = b;
  const Value ids = root.input("input_ids", DType::i64, {batch, sequence});
  const Value attention_mask = root.input("attention_mask", DType::i64, {batch, sequence});
  Builder e = root.in("embeddings");
  const Value words = e.embedding(ids, "word_embeddings", s.vocabulary, s.hidden);
  Builder p = e.in("position_embeddings");
  const Value table = p.weight("weight", {s.positions, s.hidden});
  const Value positions = p.slice(table, 0, 0, sequence);
  const Value sum = e.add(words, positions);
  Value x = e.layer_norm(sum, "LayerNorm", 1e-12f);
  root.observe("hidden_states.0", x);
  const Value boolean = root.cast(attention_mask, DType::boolean);
  const Value mask = root.reshape(boolean, {batch, 1, 1, sequence});
  for (int layer = 0; layer < s.layers; ++layer) {
    x = encoder_layer(root.in("encoder").in("layer", layer), x, mask, s);
    root.observe("hidden_states." + std::to_string(layer + 1), x);
  }
  Builder head = root.in("cls");
  const Value tied = head.weight(TensorRef{"cls.decoder.weight", {"embeddings.word_embeddings.weight"}, {}},
                                 {s.vocabulary, s.hidden});
  const Value bias = head.weight("bias", {s.vocabulary});
  const Value logits = head.linear(x, tied, bias, Split{});
  root.output("logits", logits);
  root.output("last_hidden_state", x);
  return graph;
}

inline Model model_of(Graph graph, std::shared_ptr<const Checkpoint> checkpoint) {
  Model model;
  model.parts.push_back({"model", std::move(graph)});
  model.checkpoint = std::move(checkpoint);
  model.task = "fill-mask";
  return model;
}

inline Model small_encoder(const EncoderSizes& s = {}) {
  Graph graph = small_encoder_graph(s);
  auto all = made_up_weights(graph);
  auto stored = std::make_shared<TensorMap>();  // without the tied weight: it is in the file once
  for (const std::string& name : all->names())
    if (name != "cls.decoder.weight") stored->add(name, Tensor::copy_of(all->view(name)));
  return model_of(std::move(graph), stored);
}

}  // namespace hf::test
