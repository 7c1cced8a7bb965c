// Fits a graph to how its weights lie in their file.
#pragma once
#include "checkpoint/checkpoint.h"
#include "graph/graph.h"
#include "runtime/device.h"

namespace hf::runtime {

// A Linear whose weight the file holds transposed ([in, out], as GPT-2's and those of ONNX files) becomes a
// product with the weight as it lies, where the device then reads it in place: nothing is copied.
Graph with_stored_layout(const Graph& graph, const Checkpoint& checkpoint, Device& device);

}  // namespace hf::runtime
