// Inputs for models that are compared with each other, where none were recorded.
#pragma once
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "runtime/session/named_tensors.h"

namespace hf::runtime {

struct MadeInputs {
  std::uint64_t seed = 0;
  std::int64_t batch = 2, sequence = 16;
};

// Inputs that all of `graphs` accept, by name: ids below the rows of each table that they are looked up in, a
// mask that pads all rows but the first on the right, other floats in [-1, 1). The first axis has the batch's
// size, the last the sequence's, one between them 2, where the graph leaves them open. position_ids are left
// to the session. The same seed gives the same values everywhere.
NamedTensors make_inputs(std::span<const Graph* const> graphs, const MadeInputs& made);

}  // namespace hf::runtime
