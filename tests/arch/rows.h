// What the tests of this room ask of every row of the table.
#pragma once
#include <doctest/doctest.h>

#include "support/made_up.h"

namespace hf::test {

// f(row, head) for each architecture and each of its heads.
template <class F>
void for_each_row_and_head(F&& f) {
  for (const Architecture& row : architectures()) {
    for (const std::string_view head : row.heads) {
      CAPTURE(row.model_type);
      CAPTURE(head);
      f(row, head);
    }
  }
}

inline const Architecture& row_of(std::string_view model_type) {
  for (const Architecture& row : architectures())
    if (row.model_type == model_type) return row;
  throw std::out_of_range("no row " + std::string(model_type));
}

// The graph of a tiny config, with more fields as JSON.
inline Graph tiny_graph(std::string_view model_type, std::string_view head, std::string_view extra = {},
                        const TinySizes& sizes = {}) {
  return build_graph(tiny_config(row_of(model_type), head, sizes, extra), {});
}

template <class T>
std::vector<T> all_of(const Graph& graph) {
  std::vector<T> out;
  for (const Node& node : graph.nodes)
    if (const auto* op = std::get_if<T>(&node.op)) out.push_back(*op);
  return out;
}

}  // namespace hf::test
