// Does not compile: the test graph/consume_names_a_missing_op looks for what the compiler says about it.
#include "graph/consume.h"

struct Consumer {
  template <class T>
  requires(!hf::is_one_of<T, hf::MatMul> && !hf::is_composite<T>) void lower(const T&, const hf::Node&,
                                                                             std::size_t) {}
  void decompose(const hf::Node&, std::size_t) {}
};

void run(Consumer& consumer, const hf::Node& node) { hf::consume(consumer, node, 0); }
