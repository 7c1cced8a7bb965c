#pragma once
#include "graph/graph.h"

namespace hf::onnx {

// The graph with composites put together again where their parts stand in it: Gelu by its definitions and the
// forms that exporters give it; Linear where a MatMul multiplies with the transpose of a stored matrix [out,
// in], with the bias that is added to it alone.
Graph recognise(const Graph& graph);

}  // namespace hf::onnx
