// How an exporter or a device reads a graph: an overload set, reached by one visit.
#pragma once
#include "graph/graph.h"

namespace hf {

// Calls consumer.lower(op, node, i) where such an overload exists for the node's op; else, for a composite,
// calls consumer.decompose(node, i); else the build fails, naming the op in the instantiation. So a new op
// breaks exactly what must learn it.
template <class Consumer>
decltype(auto) consume(Consumer& consumer, const Node& node, std::size_t i) {
  return std::visit(
      [&](const auto& op) -> decltype(auto) {
        using T = std::decay_t<decltype(op)>;
        if constexpr (requires { consumer.lower(op, node, i); }) {
          return consumer.lower(op, node, i);
        } else {
          static_assert(is_composite<T>,
                        "this consumer does not know the op, and it has no definition to fall back on");
          return consumer.decompose(node, i);
        }
      },
      node.op);
}

}  // namespace hf
