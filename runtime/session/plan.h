// A graph for inputs of certain sizes: where each value lives, and what is run in which order.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "runtime/device.h"
#include "runtime/session/weights.h"

namespace hf::runtime {

class Plan {
 public:
  // `graph` is symbolic; its weights and constants are in `weights`.
  Plan(const Graph& graph, Symbols symbols, Device& device, const Weights& weights);

  const Symbols& symbols() const { return symbols_; }
  const Graph& graph() const { return graph_; }
  std::uint64_t arena_bytes() const { return arena_bytes_; }          // activations and inputs
  std::uint64_t unplanned_bytes() const { return unplanned_bytes_; }  // the same without sharing of memory

  // Gives the values their addresses in an arena of at least arena_bytes().
  void place(void* arena);
  const DeviceTensor& value(Value v) const { return values_[static_cast<std::size_t>(v.node)]; }

  struct Step {
    const Node* node;
    std::vector<DeviceTensor> inputs;
    DeviceTensor output;
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  Symbols symbols_;
  Graph graph_;
  Weights folded_;                     // constants that binding made
  std::vector<std::int64_t> offsets_;  // by node; -1: not in the arena
  std::vector<DeviceTensor> values_;   // by node
  std::vector<Step> steps_;
  std::uint64_t arena_bytes_ = 0, unplanned_bytes_ = 0;
  const void* arena_ = nullptr;
};

}  // namespace hf::runtime
