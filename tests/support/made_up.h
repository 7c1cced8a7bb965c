// Models without a checkpoint: for any architecture and head a tiny config, and weights and inputs that
// follow from names and a seed alone, the same on every machine.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"

namespace hf::test {

// Every rank count that divides 12 divides these too.
struct TinySizes {
  std::int64_t layers = 2, heads = 12, hidden = 48, ffn = 48, vocabulary = 96, positions = 40, labels = 3;
};

// config.json for a row and one of its heads. Each size stands under every name that an architecture has for
// it; a class reads its own. `extra` are more fields, as JSON: "\"is_decoder\": true"; they win.
inline Config tiny_config(const Architecture& row, std::string_view head, const TinySizes& sizes = {},
                          std::string_view extra = {}) {
  const std::int64_t labels = head == "ForQuestionAnswering" ? 2 : sizes.labels;
  const std::pair<std::int64_t, std::vector<std::string_view>> fields[] = {
      {sizes.layers, {"num_hidden_layers", "n_layers", "n_layer"}},
      {sizes.heads, {"num_attention_heads", "n_heads", "n_head"}},
      {sizes.hidden, {"hidden_size", "dim", "n_embd"}},
      {sizes.hidden / 2, {"embedding_size"}},
      {sizes.ffn, {"intermediate_size", "hidden_dim", "n_inner"}},
      {sizes.vocabulary, {"vocab_size"}},
      {sizes.positions, {"max_position_embeddings", "n_positions"}},
      {1, {"pad_token_id"}},
  };
  const std::string name = std::string(row.class_prefix) + std::string(head);
  std::string json = "{\"model_type\": \"" + std::string(row.model_type) + "\", \"architectures\": [\"" +
                     name + "\"], \"id2label\": {";
  for (std::int64_t i = 0; i < labels; ++i)
    json += (i > 0 ? ", \"" : "\"") + std::to_string(i) + "\": \"L" + std::to_string(i) + "\"";
  json += "}";
  for (const auto& [value, names] : fields)
    for (const std::string_view field : names)
      json += ", \"" + std::string(field) + "\": " + std::to_string(value);
  if (!extra.empty()) json += ", " + std::string(extra);
  return Config::parse(json + "}", "tiny " + name);
}

// A stream of numbers that a name and a seed decide: FNV-1a, then splitmix64.
class MadeUp {
 public:
  MadeUp(std::string_view name, std::uint64_t seed) : state_(14695981039346656037u ^ seed) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(end));
  }
  float between(float least, float most) {  // 24 bits, so exact in fp32 up to the scaling
    return least + (most - least) * static_cast<float>(next() >> 40) * 0x1p-24f;
  }

 private:
  std::uint64_t state_;
};

// The least shape of a stored tensor that every view of it in the graph fits; a view that reshapes counts
// only where there is no other.
inline std::map<std::string, Sizes> stored_shapes(const Graph& graph) {
  std::map<std::string, Sizes> shapes, reshaped;
  for (const Node& node : graph.nodes) {
    const auto* weight = std::get_if<Weight>(&node.op);
    if (weight == nullptr) continue;
    const View& view = weight->ref.view;
    if (!view.reshape.empty()) {
      reshaped.try_emplace(weight->ref.name, view.reshape);
      continue;
    }
    const Sizes part = to_sizes(node.outputs[0].shape);
    Sizes& stored = shapes[weight->ref.name];
    stored.resize(part.size(), 0);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const int axis = view.permutation.empty() ? static_cast<int>(i) : view.permutation[i];
      const auto range = std::find_if(view.ranges.begin(), view.ranges.end(),
                                      [&](const AxisRange& r) { return r.axis == axis; });
      std::int64_t& size = stored[static_cast<std::size_t>(axis)];
      size = std::max(size, range == view.ranges.end() ? part[i] : range->end);
    }
  }
  shapes.merge(reshaped);
  return shapes;
}

// A tensor for each stored name that an unsharded graph's weights have, fp32: around 1 for the factors of
// norms (a "weight" of one axis), within ±0.25 for all else.
inline TensorMap made_up_weights(const Graph& graph, std::uint64_t seed = 0) {
  TensorMap out;
  for (const auto& [name, shape] : stored_shapes(graph)) {
    MadeUp numbers(name, seed);
    const float center = shape.size() == 1 && name.ends_with("weight") ? 1 : 0;
    Tensor tensor(DType::f32, shape);
    for (float& x : tensor.as<float>()) x = numbers.between(center - 0.25f, center + 0.25f);
    out.add(name, std::move(tensor));
  }
  return out;
}

// A tensor for each input of the graph, in its order, with the symbols' numbers. Rows after the first end in
// padding: an attention_mask of 0 and the tiny config's pad_token_id. Other ids are not the padding's.
inline std::vector<Tensor> made_up_inputs(const Graph& graph, const Symbols& symbols,
                                          std::uint64_t seed = 0) {
  std::vector<Tensor> out;
  for (const Value v : graph.inputs) {
    const std::string& name = graph.input_name(v);
    Sizes sizes;
    for (const Dim& d : graph.shape(v)) sizes.push_back(d.evaluate(symbols));
    Tensor tensor(graph.type(v).dtype, sizes);
    MadeUp numbers(name, seed);
    const std::int64_t length = sizes.empty() ? 1 : sizes.back();
    if (tensor.dtype() == DType::f32)
      for (float& x : tensor.as<float>()) x = numbers.between(-1, 1);
    if (tensor.dtype() == DType::i64) {
      for (std::int64_t i = 0; i < tensor.size(); ++i) {
        const std::int64_t row = i / length, column = i % length;
        const bool padding = column >= std::max<std::int64_t>(1, length - row);
        std::int64_t& x = tensor.as<std::int64_t>()[static_cast<std::size_t>(i)];
        if (name == "attention_mask")
          x = padding ? 0 : 1;
        else if (name == "position_ids")
          x = column;
        else if (name == "token_type_ids")
          x = numbers.below(2);
        else
          x = padding ? 1 : 2 + numbers.below(TinySizes{}.vocabulary - 2);
      }
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace hf::test
