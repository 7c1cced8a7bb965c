#include "runtime/session/session.h"

#include <doctest/doctest.h>

#include "base/file.h"
#include "checkpoint/safetensors/safetensors.h"
#include "run_op.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::runtime;
using namespace hf::test;

namespace {

const Dim kBatch = Dim::symbol("batch_size"), kLength = Dim::symbol("sequence_length");

// ids [b, s] -> table rows, plus positions, times the mask: every input has a part in the sum "y" [b, s, 3].
Graph text_graph() {
  Graph graph;
  Builder b(graph);
  const Value ids = b.input("input_ids", DType::i64, {kBatch, kLength});
  const Value mask = b.input("attention_mask", DType::i64, {kBatch, kLength});
  const Value types = b.input("token_type_ids", DType::i64, {kBatch, kLength});
  const Value positions = b.input("position_ids", DType::i64, {kBatch, kLength});
  const Value rows = b.gather(b.in("table").weight("weight", {5, 3}), ids, 0);
  const Value counted = b.add(b.add(b.mul(positions, b.integer(100)), b.mul(mask, b.integer(10))), types);
  const Value scaled = b.reshape(b.cast(counted, DType::f32), {kBatch, kLength, 1});
  b.observe("hidden_states.0", rows);
  const Value y = b.add(rows, scaled);
  b.output("y", y);
  b.output("counted", counted);
  return graph;
}

std::shared_ptr<TensorMap> table() {
  auto map = std::make_shared<TensorMap>();
  map->add("table.weight", random(DType::f32, {5, 3}, 1));
  return map;
}

const Tensor kIds = tensor(DType::i64, {1, 3}, {4, 0, 2});

struct Fixture {
  std::unique_ptr<Device> device = open_device("cpu", {.threads = 2, .cap_bytes = 0});
  Session session{text_graph(), table(), *device};
};

std::vector<double> counted(Results results) { return doubles(*find(results.outputs, "counted")); }

}  // namespace

TEST_CASE_FIXTURE(Fixture, "absent inputs are what transformers' forward takes for them") {
  CHECK(counted(session.step({{"input_ids", kIds.view()}})) == std::vector<double>{10, 110, 210});
}

TEST_CASE_FIXTURE(Fixture, "inputs that are there count") {
  const Tensor mask = tensor(DType::i64, {1, 3}, {1, 1, 0}), types = tensor(DType::i64, {1, 3}, {0, 1, 1}),
               positions = tensor(DType::i64, {1, 3}, {7, 8, 9});
  CHECK(counted(session.step({{"input_ids", kIds.view()},
                              {"attention_mask", mask.view()},
                              {"token_type_ids", types.view()},
                              {"position_ids", positions.view()}})) == std::vector<double>{710, 811, 901});
}

TEST_CASE_FIXTURE(Fixture, "integers of another width are taken where they fit") {
  const Tensor ids = converted(kIds.view(), DType::i32);
  CHECK(counted(session.step({{"input_ids", ids.view()}})) == std::vector<double>{10, 110, 210});
}

TEST_CASE("an integer that does not fit the graph's width is refused") {
  Graph graph;
  Builder b(graph);
  b.output("y", b.input("input_ids", DType::i32, {kLength}));
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  Session session(graph, nullptr, *device);
  const Tensor large = tensor(DType::i64, {1}, {5e9}), fits = tensor(DType::i64, {1}, {-5});
  CHECK(error_of([&] { session.step({{"input_ids", large.view()}}); }) == ErrorKind::usage);
  CHECK(session.step({{"input_ids", fits.view()}}).outputs[0].tensor.as<std::int32_t>()[0] == -5);
}

TEST_CASE_FIXTURE(Fixture, "unknown inputs are refused by name, with those that are known") {
  const auto caught = error_of([&] { session.step({{"input_ids", kIds.view()}, {"pixels", kIds.view()}}); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("\"pixels\""));
  CHECK(caught.says("attention_mask"));
}

TEST_CASE_FIXTURE(Fixture, "a missing input is refused by name") {
  const auto caught = error_of([&] { session.step({{"attention_mask", kIds.view()}}); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("\"input_ids\""));
}

TEST_CASE_FIXTURE(Fixture, "floats for ids are refused") {
  const Tensor floats = converted(kIds.view(), DType::f32);
  const auto caught = error_of([&] { session.step({{"input_ids", floats.view()}}); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("fp32"));
}

TEST_CASE_FIXTURE(Fixture, "inputs whose sizes contradict each other are refused by name") {
  const Tensor other = tensor(DType::i64, {1, 2}, {1, 1}), flat = tensor(DType::i64, {3}, {1, 1, 1});
  for (const Tensor* mask : {&other, &flat}) {
    const auto caught = error_of([&] {
      session.step({{"input_ids", kIds.view()}, {"attention_mask", mask->view()}});
    });
    CHECK(caught == ErrorKind::usage);
    CHECK(caught.says("attention_mask"));
  }
}

TEST_CASE_FIXTURE(Fixture, "an id outside the table is refused, and the session goes on") {
  const Tensor bad = tensor(DType::i64, {1, 3}, {4, 5, 2});
  CHECK(error_of([&] { session.step({{"input_ids", bad.view()}}); }) == ErrorKind::usage);
  CHECK(counted(session.step({{"input_ids", kIds.view()}})) == std::vector<double>{10, 110, 210});
}

TEST_CASE_FIXTURE(Fixture, "steps of many shapes, in any order, do not disturb each other") {
  const Tensor weight = random(DType::f32, {5, 3}, 1);
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t length = 1; length <= 12; ++length) {  // more shapes than plans are kept
      const Tensor ids = converted(random(DType::f32, {2, length}, 9, 0, 5).view(), DType::i64);
      const Results results = session.step({{"input_ids", ids.view()}});
      const Tensor& y = *find(results.outputs, "y");
      REQUIRE(y.shape() == Sizes{2, length, 3});
      for (std::int64_t i = 0; i < y.size(); ++i) {
        const auto id = static_cast<std::size_t>(ids.as<std::int64_t>()[static_cast<std::size_t>(i / 3)]);
        const float expected = weight.as<float>()[id * 3 + static_cast<std::size_t>(i % 3)] +
                               static_cast<float>(100 * (i / 3 % length) + 10);
        REQUIRE(y.as<float>()[static_cast<std::size_t>(i)] == expected);
      }
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "an empty batch gives empty results") {
  const Tensor none(DType::i64, {0, 3});
  CHECK(session.step({{"input_ids", none.view()}}).outputs[0].tensor.shape() == Sizes{0, 3, 3});
}

TEST_CASE("observed values come only where they are asked for") {
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  Session plain(text_graph(), table(), *device);
  CHECK(plain.step({{"input_ids", kIds.view()}}).observed.empty());
  Session observing(text_graph(), table(), *device, {.observe = true, .communicator = nullptr});
  const Results results = observing.step({{"input_ids", kIds.view()}});
  REQUIRE(results.observed.size() == 1);
  CHECK(results.observed[0].name == "hidden_states.0");
  CHECK(results.observed[0].tensor.as<float>()[0] == table()->view("table.weight").as<float>()[12]);
}

TEST_CASE("a missing weight, and one of another shape, are refused by name") {
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  auto wrong = std::make_shared<TensorMap>();
  const auto missing = error_of([&] { Session(text_graph(), wrong, *device); });
  CHECK(missing == ErrorKind::not_found);
  CHECK(missing.says("table.weight"));
  wrong->add("table.weight", random(DType::f32, {3, 5}, 1));
  const auto misshapen = error_of([&] { Session(text_graph(), wrong, *device); });
  CHECK(misshapen == ErrorKind::integrity);
  CHECK(misshapen.says("table.weight"));
  CHECK(misshapen.says("[3, 5]"));
}

TEST_CASE("weights of a mapped file are read in place, others and transposed ones are copied") {
  const TempDir dir;
  const Tensor plain = random(DType::f32, {4, 6}, 1), half = converted(plain.view(), DType::f16);
  safetensors::write(dir / "w.safetensors", {{"half", half.view()}, {"plain", plain.view()}});
  const auto session_bytes = [&](const TensorRef& ref, Shape shape) {
    Graph graph;
    Builder b(graph);
    b.output("y", b.unary(Unary::negate, b.weight(ref, std::move(shape))));
    const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
    Session session(graph, safetensors::open(dir / "w.safetensors"), *device);
    const Results results = session.step({});
    const Tensor expected = materialize(plain.view(), ref.view, DType::f32);
    const Tensor& y = results.outputs[0].tensor;
    for (std::size_t i = 0; i < y.as<float>().size(); ++i)
      CHECK(y.as<float>()[i] == doctest::Approx(-expected.as<float>()[i]).epsilon(1e-3));
    CHECK(session.memory().weight_bytes == y.bytes().size());
    return session.memory().mapped_bytes;
  };
  CHECK(session_bytes({"plain", {}, {}}, {4, 6}) == 96);
  CHECK(session_bytes({"plain", {}, {{}, {{0, 1, 3}}, {}}}, {2, 6}) == 48);      // rows lie together
  CHECK(session_bytes({"plain", {}, {{8, 3}, {{0, 2, 8}}, {}}}, {6, 3}) == 72);  // another shape, then rows
  CHECK(session_bytes({"plain", {}, {{}, {{1, 1, 3}}, {}}}, {4, 2}) == 0);       // columns do not
  CHECK(session_bytes({"plain", {}, {{}, {}, {1, 0}}}, {6, 4}) == 0);
  CHECK(session_bytes({"half", {}, {}}, {4, 6}) == 0);
}

TEST_CASE("a Linear whose weight lies transposed in the file reads it in place") {
  const TempDir dir;
  const Tensor weight = random(DType::f32, {6, 5}, 1), half = converted(weight.view(), DType::f16),
               bias = random(DType::f32, {5}, 2), x = random(DType::f32, {2, 3, 6}, 3);
  safetensors::write(dir / "w.safetensors",
                     {{"b", bias.view()}, {"half", half.view()}, {"w", weight.view()}});
  struct Case {
    std::string name;
    View view;
    bool mapped;
  };
  for (const Case& c : {Case{"w", {{}, {}, {1, 0}}, true}, Case{"w", {{}, {{0, 0, 6}}, {1, 0}}, true},
                        Case{"w", {{5, 6}, {}, {}}, true}, Case{"half", {{}, {}, {1, 0}}, false}}) {
    CAPTURE(c.name);
    const Tensor as_seen = materialize(c.name == "w" ? weight.view() : half.view(), c.view, DType::f32);
    for (const bool with_bias : {true, false}) {
      Graph graph;
      Builder b(graph);
      std::vector<Value> inputs{b.input("x", DType::f32, {kBatch, 3, 6}),
                                b.weight(TensorRef{c.name, {}, c.view}, {5, 6})};
      if (with_bias) inputs.push_back(b.weight(TensorRef{"b", {}, {}}, {5}));
      b.output("y", b.op(Linear{}, inputs));
      const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
      Session session(graph, safetensors::open(dir / "w.safetensors"), *device);
      const Results results = session.step({{"x", x.view()}});
      const Tensor expected =
          with_bias ? run_op(Linear{}, {&x, &as_seen, &bias}) : run_op(Linear{}, {&x, &as_seen});
      CHECK(difference(results.outputs[0].tensor, expected) < 2e-6);
      CHECK((session.memory().mapped_bytes == session.memory().weight_bytes) == c.mapped);
    }
  }
}

TEST_CASE("a weight that several nodes use is loaded once") {
  Graph graph;
  Builder b(graph);
  const Value first = b.weight(TensorRef{"a", {}, {}}, {5, 3}),
              again = b.weight(TensorRef{"b", {"a"}, {}}, {5, 3});
  b.output("y", b.add(first, again));
  auto map = std::make_shared<TensorMap>();
  map->add("a", random(DType::f32, {5, 3}, 1));
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  CHECK(Session(graph, map, *device).memory().weight_bytes == 60);
}

TEST_CASE("memory is planned, measured and given back") {
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  {
    Graph graph;
    Builder b(graph);
    Value x = b.input("x", DType::f32, {kBatch, 1000});
    for (int i = 0; i < 10; ++i) x = b.unary(Unary::tanh, x);
    b.output("y", x);
    Session session(graph, nullptr, *device);
    const Tensor x0 = random(DType::f32, {4, 1000}, 1);
    session.step({{"x", x0.view()}});
    const MemoryReport memory = session.memory();
    CHECK(memory.planned_bytes == 3 * 16000);  // two values take turns, and the input
    CHECK(memory.unplanned_bytes == 11 * 16000);
    CHECK(memory.measured_bytes == memory.planned_bytes);
    CHECK(device->memory().used_bytes == memory.planned_bytes);
  }
  CHECK(device->memory().used_bytes == 0);
}

TEST_CASE("a model that does not fit the device's memory is refused, and nothing stays allocated") {
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 1000});
  Graph graph;
  Builder b(graph);
  b.output("y", b.unary(Unary::tanh, b.input("x", DType::f32, {kBatch})));
  Session session(graph, nullptr, *device);
  const Tensor large = random(DType::f32, {200}, 1), small = random(DType::f32, {20}, 1);
  CHECK(error_of([&] { session.step({{"x", large.view()}}); }) == ErrorKind::out_of_memory);
  CHECK(device->memory().used_bytes == 0);
  CHECK(session.step({{"x", small.view()}}).outputs.size() == 1);
}

TEST_CASE("a sharded graph without the other ranks is refused") {
  Graph graph;
  Builder b(graph);
  b.output("y", b.op(AllReduce{}, {b.input("x", DType::f32, {kBatch})}));
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  Session session(graph, nullptr, *device);
  const Tensor x = random(DType::f32, {2}, 1);
  CHECK(error_of([&] { session.step({{"x", x.view()}}); }) == ErrorKind::usage);
}
