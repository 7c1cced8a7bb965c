// Where values live: no two that are alive together share a byte.
#include <doctest/doctest.h>

#include <random>

#include "graph/builder.h"

namespace hf::test {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t bytes_of(const Graph& g, std::size_t node) {
  const TensorType& type = g.nodes[node].outputs[0];
  return elements(to_sizes(type.shape)) * static_cast<std::int64_t>(size_of(type.dtype));
}

// The node whose bytes a value has: reshapes have their input's.
std::size_t owner(const Graph& g, std::size_t node) {
  while (std::holds_alternative<Reshape>(g.nodes[node].op))
    node = static_cast<std::size_t>(g.nodes[node].inputs[0].node);
  return node;
}

// The last node that reads the bytes of `of`, through any reshape; the end for what callers see.
std::size_t last_reader(const Graph& g, std::size_t of) {
  std::size_t last = of;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    for (const Value v : g.nodes[i].inputs)
      if (v.present() && owner(g, static_cast<std::size_t>(v.node)) == of) last = i;
  const auto seen = [&](Value v) {
    if (owner(g, static_cast<std::size_t>(v.node)) == of) last = g.nodes.size();
  };
  for (const Named& n : g.outputs) seen(n.value);
  for (const Named& n : g.observed) seen(n.value);
  for (const State& s : g.states) seen(s.present);
  return last;
}

void check_plan(const Graph& g) {
  const MemoryPlan plan = plan_memory(g);
  REQUIRE(plan.offset.size() == g.nodes.size());
  std::vector<std::size_t> last(g.nodes.size()), placed;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (owner(g, i) != i) {
      CHECK(plan.offset[i] == plan.offset[owner(g, i)]);
      continue;
    }
    last[i] = last_reader(g, i);
    if (plan.offset[i] < 0) continue;
    CHECK(plan.offset[i] % kAlignment == 0);
    CHECK(plan.offset[i] + bytes_of(g, i) <= plan.bytes);
    placed.push_back(i);
  }
  std::int64_t most = 0, all = 0;  // what is alive together at most
  for (const std::size_t j : placed) {
    std::int64_t alive = bytes_of(g, j);
    all += bytes_of(g, j);
    for (const std::size_t i : placed) {
      if (i >= j || last[i] < j) continue;  // gone before j is written
      alive += bytes_of(g, i);
      const bool apart = plan.offset[i] + bytes_of(g, i) <= plan.offset[j] ||
                         plan.offset[j] + bytes_of(g, j) <= plan.offset[i];
      CHECK_MESSAGE(apart, "nodes " << i << " and " << j << "\n" << dump(g));
    }
    most = std::max(most, alive);
  }
  CHECK(plan.bytes >= most);
  CHECK(plan.bytes <= plan.unplanned);
  CHECK(plan.unplanned >= all);
}

// A graph of `count` nodes over random earlier values of one length or another.
Graph random_graph(unsigned seed, int count) {
  std::mt19937 random(seed);
  Graph g;
  Builder b(g);
  std::vector<Value> values;
  for (int i = 0; i < 2; ++i)
    values.push_back(
        b.input("x" + std::to_string(i), DType::f32, {static_cast<std::int64_t>(random() % 50)}));
  values.push_back(b.weight("w", {static_cast<std::int64_t>(1 + random() % 50)}));
  values.push_back(b.number(1));
  const auto any = [&] { return values[random() % values.size()]; };
  const auto flat = [&](Value v) { return b.shape(v).size() == 1 ? v : b.reshape(v, {-1}); };
  for (int i = 0; i < count; ++i) {
    const Value x = any();
    switch (random() % 6) {
      case 0:
        values.push_back(b.unary(Unary::relu, x));
        break;
      case 1:
        values.push_back(b.add(x, x));
        break;
      case 2:
        values.push_back(b.reshape(x, {1, elements(to_sizes(b.shape(x)))}));
        break;
      case 3: {
        const Value left = flat(x), right = flat(any());
        values.push_back(b.concat({left, right}, 0));
        break;
      }
      case 4: {
        const Value v = flat(x);
        values.push_back(b.slice(v, 0, 0, Dim(b.dim(v, 0).number() / 2)));
        break;
      }
      default:
        values.push_back(b.cast(b.range(0, static_cast<std::int64_t>(random() % 40)), DType::f32));
    }
    if (random() % 8 == 0) b.output("o" + std::to_string(i), values.back());
    if (random() % 12 == 0) b.observe("h" + std::to_string(i), any());
    if (random() % 20 == 0) g.states.push_back({"s" + std::to_string(i), {}, any(), 0, State::append});
  }
  return g;
}

}  // namespace

TEST_CASE("no two values of a random graph that live together overlap") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const Graph g = random_graph(seed, static_cast<int>(5 + seed % 60));
    check_plan(g);
    check_plan(pruned(g));
  }
}

TEST_CASE("a chain needs the place of two values") {
  Graph g;
  Builder b(g);
  Value x = b.input("x", DType::f32, {100});
  for (int i = 0; i < 10; ++i) x = b.unary(Unary::relu, x);
  b.output("y", x);
  const MemoryPlan plan = plan_memory(g);
  CHECK(plan.bytes == 2 * 448);  // 400 bytes each, in steps of 64
  CHECK(plan.unplanned == 10 * 448);
  check_plan(g);
}

TEST_CASE("a reshape has its input's place, and keeps it alive") {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {64});
  const Value a = b.unary(Unary::relu, x);
  const Value view = b.reshape(b.reshape(a, {8, 8}), {64});
  const Value c = b.unary(Unary::negate, x);  // a is not read any more, but the view of it is
  const Value d = b.add(view, c);
  b.output("d", d);
  const MemoryPlan plan = plan_memory(g);
  CHECK(plan.offset[static_cast<std::size_t>(view.node)] == plan.offset[static_cast<std::size_t>(a.node)]);
  CHECK(plan.offset[static_cast<std::size_t>(c.node)] != plan.offset[static_cast<std::size_t>(a.node)]);
  check_plan(g);
}

TEST_CASE("inputs, weights, constants and their reshapes live elsewhere") {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {6});
  const Value view = b.reshape(x, {2, 3});
  const Value w = b.weight("w", {3});
  const Value one = b.number(1);
  const Value range = b.range(0, 4);
  b.output("view", view);
  b.output("range", range);
  const MemoryPlan plan = plan_memory(g);
  for (const Value v : {x, view, w, one}) CHECK(plan.offset[static_cast<std::size_t>(v.node)] == -1);
  CHECK(plan.offset[static_cast<std::size_t>(range.node)] == 0);
}

TEST_CASE("what callers see lives to the end") {
  for (const int which : {0, 1, 2}) {
    Graph g;
    Builder b(g);
    const Value x = b.input("x", DType::f32, {64});
    const Value first = b.unary(Unary::relu, x);
    if (which == 0) b.output("first", first);
    if (which == 1) b.observe("first", first);
    if (which == 2) g.states.push_back({"first", {}, first, 0, State::append});
    Value y = b.unary(Unary::negate, x);
    for (int i = 0; i < 5; ++i) y = b.unary(Unary::relu, y);
    b.output("y", y);
    check_plan(g);
    CHECK(plan_memory(g).bytes == 3 * 256);
  }
}

TEST_CASE("the smallest gap that is wide enough is taken") {
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::u8, {1});
  const auto block = [&](std::int64_t size) { return b.op(Expand{{size}}, {x}); };
  const Value wide = block(256), wall = block(64), narrow = block(128), end = block(64);
  const Value use_wide = b.slice(wide, 0, 0, 1), use_narrow = b.slice(narrow, 0, 0, 1);  // both end here
  const Value fits = block(128);
  for (const auto& [name, v] :
       {std::pair("wall", wall), {"end", end}, {"a", use_wide}, {"b", use_narrow}, {"fits", fits}})
    b.output(name, v);
  const MemoryPlan plan = plan_memory(g);
  const auto at = [&](Value v) { return plan.offset[static_cast<std::size_t>(v.node)]; };
  CHECK(at(narrow) == 320);
  CHECK(at(fits) == 320);
  check_plan(g);
}

TEST_CASE("an empty graph and empty values need no more than a block each") {
  CHECK(plan_memory(Graph()).bytes == 0);
  Graph g;
  Builder b(g);
  const Value x = b.input("x", DType::f32, {0, 5});
  b.output("y", b.unary(Unary::relu, x));
  CHECK(plan_memory(g).bytes == kAlignment);
}

}  // namespace hf::test
