#include "runtime/compare/made_inputs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/escape.h"

namespace hf::runtime {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): the standard library's distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

struct Wanted {
  TensorType type;
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();  // ids are below it
};

bool keeps_values(const Op& op) {
  return std::holds_alternative<Cast>(op) || std::holds_alternative<Reshape>(op) ||
         std::holds_alternative<Transpose>(op) || std::holds_alternative<Slice>(op) ||
         std::holds_alternative<Expand>(op);
}

// For each node the input whose values it holds unchanged, -1 for none; and what tables those index.
void note_limits(const Graph& graph, std::map<std::string, Wanted>& wanted) {
  std::vector<int> holds(graph.nodes.size(), -1);
  const auto source = [&](Value v) { return v.present() ? holds[static_cast<std::size_t>(v.node)] : -1; };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (std::holds_alternative<Input>(node.op)) holds[i] = static_cast<int>(i);
    if (keeps_values(node.op)) holds[i] = source(node.inputs[0]);
    const auto* gather = std::get_if<Gather>(&node.op);
    if (gather == nullptr || source(node.inputs[1]) < 0) continue;
    const Dim& rows = graph.shape(node.inputs[0])[static_cast<std::size_t>(gather->axis)];
    Wanted& input = wanted.at(graph.input_name({source(node.inputs[1]), 0}));
    if (rows.is_number()) input.limit = std::min(input.limit, rows.number());
  }
}

Sizes sizes_for(const Shape& shape, const MadeInputs& made) {
  Sizes sizes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].is_number())
      sizes.push_back(shape[axis].number());
    else
      sizes.push_back(axis == 0 ? made.batch : axis + 1 == shape.size() ? made.sequence : 2);
  }
  return sizes;
}

// Ones, then zeros: at least half of each row is seen.
Tensor mask(const Sizes& sizes, Random& random) {
  Tensor out(DType::i64, sizes);
  const std::int64_t length = sizes.empty() ? 1 : sizes.back(), rows = length > 0 ? out.size() / length : 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t seen = row == 0 ? length : length - random.below(length / 2 + 1);
    std::fill_n(out.as<std::int64_t>().begin() + row * length, seen, 1);
  }
  return out;
}

Tensor ids(const std::string& name, const Sizes& sizes, std::int64_t limit, Random& random) {
  if (limit == std::numeric_limits<std::int64_t>::max()) limit = 2;  // no table says more: flags
  if (limit < 1) throw Error(ErrorKind::usage, "input " + in_quotes(name) + ": indexes a table without rows");
  Tensor out(DType::i64, sizes);
  for (std::int64_t& id : out.as<std::int64_t>()) id = random.below(limit);
  return out;
}

Tensor floats(const Sizes& sizes, Random& random) {
  Tensor out(DType::f64, sizes);
  for (double& x : out.as<double>()) x = 2 * random.unit() - 1;
  return out;
}

}  // namespace

NamedTensors make_inputs(std::span<const Graph* const> graphs, const MadeInputs& made) {
  if (made.batch < 1 || made.sequence < 1)
    throw Error(ErrorKind::usage, "a batch and a sequence have at least one element");
  std::map<std::string, Wanted> wanted;
  std::vector<std::string> order;
  for (const Graph* graph : graphs) {
    for (const Value v : graph->inputs)
      if (wanted.try_emplace(graph->input_name(v), Wanted{graph->type(v)}).second)
        order.push_back(graph->input_name(v));
    note_limits(*graph, wanted);
  }
  NamedTensors out;
  Random random(made.seed);
  for (const std::string& name : order) {
    if (name == "position_ids") continue;
    const Wanted& input = wanted.at(name);
    const Sizes sizes = sizes_for(input.type.shape, made);
    const Tensor values = is_float(input.type.dtype) ? floats(sizes, random)
                          : name == "attention_mask" ? mask(sizes, random)
                                                     : ids(name, sizes, input.limit, random);
    out.push_back({name, converted(values.view(), input.type.dtype)});
  }
  return out;
}

}  // namespace hf::runtime
