#include "runtime/session/plan.h"

#include "base/error.h"

namespace hf::runtime {
namespace {

constexpr std::int64_t kAlignment = 64;

bool is_input(const Node& node) { return std::holds_alternative<Input>(node.op); }
bool is_view(const Node& node) { return std::holds_alternative<Reshape>(node.op); }

}  // namespace

Plan::Plan(const Graph& graph, Symbols symbols, Device& device, const Weights& weights)
    : symbols_(std::move(symbols)), graph_(bind_symbols(graph, symbols_)), folded_(device, nullptr) {
  MemoryPlan memory = plan_memory(graph_);
  offsets_ = std::move(memory.offset);
  std::int64_t bytes = memory.bytes, unplanned = memory.unplanned;
  Graph made;  // what the session has not loaded: numbers that were sizes
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    DeviceTensor tensor = weights.find(node);
    if (std::holds_alternative<Constant>(node.op) && tensor.data == nullptr) made.nodes.push_back(node);
    if (tensor.data == nullptr) tensor = {nullptr, node.outputs[0].dtype, to_sizes(node.outputs[0].shape)};
    if (is_input(node)) {
      offsets_[i] = bytes;
      const auto size = static_cast<std::int64_t>(tensor.bytes());
      bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
      unplanned += size;
    }
    values_.push_back(std::move(tensor));
  }
  arena_bytes_ = static_cast<std::uint64_t>(bytes);
  unplanned_bytes_ = static_cast<std::uint64_t>(unplanned);
  folded_.load(made);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
    if (const Node& node = graph_.nodes[i];
        std::holds_alternative<Constant>(node.op) && values_[i].data == nullptr)
      values_[i] = folded_.find(node);
}

void Plan::place(void* arena) {
  if (arena == arena_) return;
  arena_ = arena;
  steps_.clear();
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (is_view(node)) {
      values_[i].data = value(node.inputs[0]).data;
      continue;
    }
    if (offsets_[i] >= 0) values_[i].data = static_cast<std::byte*>(arena) + offsets_[i];
    if (node.inputs.empty() && !std::holds_alternative<Range>(node.op)) continue;
    Step step{&node, {}, values_[i]};
    for (const Value v : node.inputs) step.inputs.push_back(v.present() ? value(v) : DeviceTensor{});
    steps_.push_back(std::move(step));
  }
}

}  // namespace hf::runtime
