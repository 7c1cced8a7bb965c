// Every way a graph can be unsound, by name.
#include <doctest/doctest.h>

#include "graph/builder.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

// x [2, 3], y = relu(x), z = y + y; z is the output, y observed.
Graph sound() {
  Graph g;
  Builder b = Builder(g).in("path");
  const Value x = b.input("x", DType::f32, {2, 3});
  const Value y = b.unary(Unary::relu, x);
  const Value z = b.add(y, y);
  b.output("z", z);
  b.observe("y", y);
  g.states.push_back({"cache", x, z, 1, State::append});
  return g;
}

template <class F>
void check_unsound(std::string_view sentence, F&& spoil) {
  Graph g = sound();
  spoil(g);
  const Caught c = error_of([&] { check(g); });
  CHECK(c == ErrorKind::internal);
  CHECK_MESSAGE(c.says(sentence), c.message);
}

}  // namespace

TEST_CASE("a sound graph passes, an empty one too") {
  check(sound());
  check(Graph());
}

TEST_CASE("a node that uses a later value, or itself") {
  check_unsound("node 1 (Unary at \"path\") uses value 2, which does not stand before it", [](Graph& g) {
    g.nodes[1].inputs[0] = {2, 0};
  });
  check_unsound("uses value 1, which does not stand before it", [](Graph& g) {
    g.nodes[1].inputs[0] = {1, 0};
  });
  check_unsound("uses value 9", [](Graph& g) { g.nodes[1].inputs[0] = {9, 0}; });
}

TEST_CASE("a node that uses an output that its input lacks") {
  check_unsound("uses output 1 of node 0 (Input", [](Graph& g) { g.nodes[1].inputs[0] = {0, 1}; });
  check_unsound("uses output -1 of node 0", [](Graph& g) { g.nodes[1].inputs[0] = {0, -1}; });
}

TEST_CASE("a node without a type, or with two") {
  check_unsound("has 0 outputs", [](Graph& g) { g.nodes[2].outputs.clear(); });
  check_unsound("has 2 outputs", [](Graph& g) { g.nodes[2].outputs.push_back(g.nodes[2].outputs[0]); });
}

TEST_CASE("a type that the op does not give") {
  check_unsound("node 1 (Unary at \"path\") says fp32 [2, 4], its op gives fp32 [2, 3]", [](Graph& g) {
    g.nodes[1].outputs[0].shape = {2, 4};
  });
  check_unsound("says fp16 [2, 3], its op gives fp32 [2, 3]",
                [](Graph& g) { g.nodes[1].outputs[0].dtype = DType::f16; });
}

TEST_CASE("inputs that the op does not take") {
  check_unsound("node 2 (Binary at \"path\"): has 1 inputs, expected 2",
                [](Graph& g) { g.nodes[2].inputs.pop_back(); });
  check_unsound("node 2 (Binary at \"path\"): input 1 is missing",
                [](Graph& g) { g.nodes[2].inputs[1] = {}; });
  check_unsound("shapes [2, 3] and [5, 5] do not broadcast", [](Graph& g) {
    g.nodes.insert(g.nodes.begin() + 1, {Constant{std::make_shared<const Tensor>(DType::f32, Sizes{5, 5})},
                                         {},
                                         {{DType::f32, {5, 5}}},
                                         "",
                                         -1});
    g.nodes[3].inputs = {{0, 0}, {1, 0}};
  });
}

TEST_CASE("a source that has inputs") {
  check_unsound("is a source but has inputs", [](Graph& g) {
    g.nodes.push_back({Weight{{"w", {}, {}}, {}}, {{0, 0}}, {{DType::f32, {2}}}, "", -1});
  });
}

TEST_CASE("a constant without a value") {
  check_unsound("a constant has no value", [](Graph& g) {
    g.nodes.push_back({Constant{}, {}, {{DType::f32, {}}}, "", -1});
  });
}

TEST_CASE("an input that is none, stands twice, has no name or is not listed") {
  check_unsound("an input is a Unary", [](Graph& g) { g.inputs.push_back({1, 0}); });
  check_unsound("input \"x\" is not unique", [](Graph& g) { g.inputs.push_back({0, 0}); });
  check_unsound("input \"\" is not unique", [](Graph& g) { std::get<Input>(g.nodes[0].op).name.clear(); });
  check_unsound("input \"x\" is not among those that callers see", [](Graph& g) { g.inputs.clear(); });
  check_unsound("an input uses value 7", [](Graph& g) { g.inputs.push_back({7, 0}); });
}

TEST_CASE("outputs and observed values that are not there or have no name of their own") {
  check_unsound("output \"z\" is not unique", [](Graph& g) { g.outputs.push_back({"z", {1, 0}}); });
  check_unsound("output \"\" is not unique", [](Graph& g) { g.outputs[0].name.clear(); });
  check_unsound("output \"z\" uses value 7", [](Graph& g) { g.outputs[0].value = {7, 0}; });
  check_unsound("output \"z\" uses value -1", [](Graph& g) { g.outputs[0].value = {}; });
  check_unsound("observed value \"y\" is not unique", [](Graph& g) { g.observed.push_back({"y", {1, 0}}); });
  check_unsound("observed value \"y\" uses output 3", [](Graph& g) { g.observed[0].value = {1, 3}; });
  Graph same = sound();  // an output may be observed under its own name
  same.observed[0].name = "z";
  check(same);
}

TEST_CASE("states that are not there, not inputs, or change their type") {
  check_unsound("state \"cache\" uses value 7", [](Graph& g) { g.states[0].present = {7, 0}; });
  check_unsound("state \"cache\" uses value 8", [](Graph& g) { g.states[0].past = {8, 0}; });
  check_unsound("state \"cache\" has a past that is no input", [](Graph& g) { g.states[0].past = {1, 0}; });
  check_unsound("state \"cache\" is not unique", [](Graph& g) { g.states.push_back(g.states[0]); });
  check_unsound("state \"cache\" grows along axis 2 of [2, 3]", [](Graph& g) { g.states[0].axis = 2; });
  check_unsound("state \"cache\" turns from fp16 [2, 3] into fp32 [2, 3]", [](Graph& g) {
    g.nodes.push_back({Input{"past"}, {}, {{DType::f16, {2, 3}}}, "", -1});
    g.inputs.push_back({3, 0});
    g.states[0].past = {3, 0};
  });
}

TEST_CASE("a gather over ranks that changes more than its axis") {
  const auto gather = [](Graph& g, int axis, TensorType type) {
    g.nodes.push_back({AllGather{axis}, {{2, 0}}, {std::move(type)}, "", -1});
  };
  Graph good = sound();
  gather(good, 1, {DType::f32, {2, 6}});
  check(good);
  check_unsound("says fp32 [4, 6], its op gives fp32 [2, 6]", [&](Graph& g) {
    gather(g, 1, {DType::f32, {4, 6}});
  });
  check_unsound("says fp16 [2, 6]", [&](Graph& g) { gather(g, 1, {DType::f16, {2, 6}}); });
  check_unsound("joins axis 2 of [2, 3]", [&](Graph& g) { gather(g, 2, {DType::f32, {2, 6}}); });
  check_unsound("joins axis -1 of [2, 3]", [&](Graph& g) { gather(g, -1, {DType::f32, {2, 6}}); });
  check_unsound("joins axis 1 of [2, 3]", [&](Graph& g) { gather(g, 1, {DType::f32, {6}}); });
  check_unsound("needs one input", [&](Graph& g) {
    gather(g, 1, {DType::f32, {2, 6}});
    g.nodes.back().inputs.clear();
  });
}

}  // namespace hf::test
