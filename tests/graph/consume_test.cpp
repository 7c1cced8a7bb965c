#include "graph/consume.h"

#include <doctest/doctest.h>

namespace hf::test {
namespace {

// Knows every source and primitive, and Gelu whole; other composites it takes apart.
struct Reader {
  std::vector<std::string> seen;

  void note(std::string_view how, const Node& node) {
    seen.push_back(std::string(how) + " " + std::string(name_of(node.op)));
  }
  template <class T>
  requires(!is_composite<T>) void lower(const T&, const Node& node, std::size_t) { note("lowers", node); }
  void lower(const Gelu&, const Node& node, std::size_t) { note("lowers", node); }
  void decompose(const Node& node, std::size_t) { note("decomposes", node); }
};

// Gives a value back, and takes a composite over its definition's op.
struct Counter {
  template <class T>
  requires(!is_composite<T>) int lower(const T&, const Node&, std::size_t i) { return static_cast<int>(i); }
  int decompose(const Node&, std::size_t) { return -1; }
};

Graph small() {
  Graph g;
  const Value x = g.add_source(Input{"x"}, {DType::f32, {2, 3}});
  const Value w = g.add_source(Weight{{"w", {}, {}}, {}}, {DType::f32, {3, 3}});
  const Value y = g.add(Linear{}, {x, w});
  const Value z = g.add(Gelu{Gelu::erf}, {y});
  g.add(Unary{Unary::relu}, {z});
  return g;
}

template <class Consumer, class T>
constexpr bool has_overload = requires(Consumer consumer, T op, Node node) {
  consumer.lower(op, node, 0u);
};

template <class Consumer, std::size_t... I>
constexpr std::size_t count_overloads(std::index_sequence<I...>) {
  return (0 + ... + (has_overload<Consumer, std::variant_alternative_t<I, Op>> ? 1 : 0));
}

}  // namespace

TEST_CASE("an overload is called where there is one, else a composite is taken apart") {
  const Graph g = small();
  Reader reader;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) consume(reader, g.nodes[i], i);
  CHECK(reader.seen == std::vector<std::string>{"lowers Input", "lowers Weight", "decomposes Linear",
                                                "lowers Gelu", "lowers Unary"});
}

TEST_CASE("the consumer's result comes back") {
  const Graph g = small();
  Counter counter;
  CHECK(consume(counter, g.nodes[4], 4) == 4);
  CHECK(consume(counter, g.nodes[2], 2) == -1);
}

// That a primitive without an overload stops the build is the test graph/consume_names_a_missing_op.
TEST_CASE("a consumer of every primitive and one composite has an overload for each") {
  constexpr auto kAll = std::make_index_sequence<std::variant_size_v<Op>>();
  static_assert(count_overloads<Reader>(kAll) == std::variant_size_v<Op> - 4);
  static_assert(count_overloads<Counter>(kAll) == std::variant_size_v<Op> - 5);
}

}  // namespace hf::test
