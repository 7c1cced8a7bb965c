// Best fit over live ranges: each value takes the smallest gap that is wide enough among those alive with it.
#include <algorithm>
#include <map>

#include "graph/graph.h"

namespace hf {
namespace {

constexpr std::int64_t kAlignment = 64;

bool lives_elsewhere(const Node& node) {
  return node.inputs.empty() && !std::holds_alternative<Range>(node.op);
}

// The node whose memory a value's bytes are in: a reshape has its input's.
std::vector<std::size_t> owners(const Graph& graph) {
  std::vector<std::size_t> owner(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    owner[i] = std::holds_alternative<Reshape>(n.op) ? owner[static_cast<std::size_t>(n.inputs[0].node)] : i;
  }
  return owner;
}

std::vector<std::size_t> last_uses(const Graph& graph, const std::vector<std::size_t>& owner) {
  std::vector<std::size_t> last(graph.nodes.size(), 0);
  const auto use = [&](Value v, std::size_t at) {
    if (v.present())
      last[owner[static_cast<std::size_t>(v.node)]] =
          std::max(last[owner[static_cast<std::size_t>(v.node)]], at);
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    use({static_cast<int>(i), 0}, i);
    for (const Value v : graph.nodes[i].inputs) use(v, i);
  }
  for (const Named& n : graph.outputs) use(n.value, graph.nodes.size());
  for (const Named& n : graph.observed) use(n.value, graph.nodes.size());
  for (const State& s : graph.states) use(s.present, graph.nodes.size());
  return last;
}

// The start of the smallest gap of at least `size` bytes between the blocks (offset -> end), or the end of
// all.
std::int64_t best_gap(const std::map<std::int64_t, std::int64_t>& live, std::int64_t size) {
  std::int64_t at = 0, best = -1, best_width = 0;
  for (const auto& [begin, end] : live) {
    if (begin - at >= size && (best < 0 || begin - at < best_width)) {
      best = at;
      best_width = begin - at;
    }
    at = std::max(at, end);
  }
  return best < 0 ? at : best;
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph) {
  const std::vector<std::size_t> owner = owners(graph);
  const std::vector<std::size_t> last = last_uses(graph, owner);
  MemoryPlan plan;
  plan.offset.assign(graph.nodes.size(), -1);
  std::map<std::int64_t, std::int64_t> live;         // offset -> end
  std::multimap<std::size_t, std::int64_t> expires;  // last use -> offset
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (auto it = expires.begin(); it != expires.end() && it->first < i; it = expires.erase(it))
      live.erase(it->second);
    const Node& n = graph.nodes[i];
    if (owner[i] != i) {
      plan.offset[i] = plan.offset[owner[i]];
      continue;
    }
    if (lives_elsewhere(n)) continue;
    const std::int64_t bytes =
        elements(to_sizes(n.outputs[0].shape)) * static_cast<std::int64_t>(size_of(n.outputs[0].dtype));
    const std::int64_t size = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    const std::int64_t at = best_gap(live, size);
    live[at] = at + size;
    expires.emplace(last[i], at);
    plan.offset[i] = at;
    plan.bytes = std::max(plan.bytes, at + size);
    plan.unplanned += size;
  }
  return plan;
}

}  // namespace hf
