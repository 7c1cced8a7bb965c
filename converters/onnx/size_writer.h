// Symbolic sizes as ONNX computes them: a symbol is the Shape of the graph input that declares it, an
// expression int64 arithmetic on vectors of one element, which Concat joins to shapes. Each is computed once.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "converters/onnx/node_writer.h"
#include "graph/graph.h"

namespace hf::onnx {

class SizeWriter {
 public:
  SizeWriter(NodeWriter& nodes, const Graph& graph) : nodes_(&nodes), graph_(&graph) {}

  std::string vector(const Dim& dim);     // int64 [1]
  std::string scalar(const Dim& dim);     // int64 []
  std::string shape(const Shape& shape);  // int64 [rank]

 private:
  std::string symbol(const std::string& name);
  std::string factor(const DimFactor& factor);
  std::string term(const DimTerm& term, std::int64_t coefficient);
  std::string sum(const Dim& dim);

  NodeWriter* nodes_;
  const Graph* graph_;
  std::map<std::string, std::string, std::less<>> vectors_, scalars_, inputs_;
};

}  // namespace hf::onnx
