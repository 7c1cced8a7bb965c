// From what a caller has to what a graph wants.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "runtime/session/named_tensors.h"

namespace hf::runtime {

struct ResolvedInputs {
  Symbols symbols;                 // the graph's sizes
  std::vector<TensorView> values;  // in the order of graph.inputs
  std::vector<Tensor> made;        // what was filled in or converted; `values` look into them
};

// Whether a session knows what an input of this name is where it is absent (attention_mask: ones).
bool is_filled(std::string_view name);

// Throws Error{usage} naming each input that is unknown, and the first that is missing or does not fit.
ResolvedInputs resolve_inputs(const Graph& graph, const Inputs& inputs);

}  // namespace hf::runtime
