// A graph ready to run on a device: its weights there, its plans by the shapes of the inputs. One thread at a
// time may use it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "graph/graph.h"
#include "runtime/device.h"
#include "runtime/session/named_tensors.h"

namespace hf::runtime {

class Communicator;

struct SessionOptions {
  bool observe = false;                  // also return the graph's observed values ("hidden_states.3")
  Communicator* communicator = nullptr;  // for a graph that shard() made; lives as long as the session
};

// All of this session; a device that others use too counts their allocations among the measured.
struct MemoryReport {
  std::uint64_t weight_bytes = 0;   // weights and constants as the graph sees them
  std::uint64_t mapped_bytes = 0;   // of them, those read in place from the checkpoint's mapping
  std::uint64_t planned_bytes = 0;  // activations and inputs by the plan, greatest of the shapes so far
  std::uint64_t measured_bytes =
      0;  // the device's greatest use beyond the weights: the plan's and the kernels' own
  std::uint64_t unplanned_bytes = 0;  // what planned_bytes were with a buffer for each value
};

struct Results {
  NamedTensors outputs;   // in the graph's order
  NamedTensors observed;  // likewise; empty unless asked for
};

class Session {
 public:
  // Reads the weights (mapped ones stay where they are), with composites decomposed that the device has no
  // kernel for. Throws Error{not_found} or {integrity} where a weight is missing or of another shape.
  Session(const Graph& graph, std::shared_ptr<const Checkpoint> checkpoint, Device& device,
          SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One forward pass. Inputs come by name; integers are converted to the width that the graph wants. An
  // absent position_ids is 0, 1, …, an absent attention_mask ones, absent token_type_ids zeros, as
  // transformers' forward fills them. Any other that is missing or unknown is Error{usage}.
  Results step(const Inputs& inputs);

  const Graph& graph() const;
  MemoryReport memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hf::runtime
