#pragma once
#include "graph/graph.h"

namespace hf::onnx {

// The graph with composites put together again where their parts stand in it: Gelu by its definitions and the
// forms that exporters give it, Linear where a MatMul multiplies with a stored matrix, with the bias that is
// added to it alone. A matrix [in, out] becomes a weight [out, in] by its view.
Graph recognise(const Graph& graph);

}  // namespace hf::onnx
