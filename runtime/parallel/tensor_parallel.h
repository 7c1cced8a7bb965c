// A model over several ranks, each with a slice of each layer.
#pragma once
#include <memory>

#include "runtime/session/session.h"

namespace hf::runtime {

struct RankResult {
  Results results;
  MemoryReport memory;
};

// One step over `ranks` tensor-parallel ranks: shard() writes each one's graph, and each runs in a thread on
// a CPU device of its own ("cpu:0", "cpu:1", …). What it gives is by rank. Throws Error{usage} where the
// graph cannot be cut so.
std::vector<RankResult> run_tensor_parallel(const Graph& graph, std::shared_ptr<const Checkpoint> checkpoint,
                                            int ranks, const Inputs& inputs,
                                            const DeviceOptions& options = {}, bool observe = false);

}  // namespace hf::runtime
