#include <doctest/doctest.h>

#include <map>

#include "base/file.h"
#include "converters/onnx/onnx.h"
#include "converters/onnx/proto.h"
#include "small_encoder.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::test;

namespace {

constexpr hf::onnx::WriteOptions kBeside{.inline_limit_bytes = 0, .progress = nullptr};

::onnx::ModelProto parsed(const std::filesystem::path& file) {
  ::onnx::ModelProto model;
  REQUIRE(model.ParseFromString(read_text(file)));
  return model;
}

std::map<std::string, int> count_operators(const ::onnx::GraphProto& graph) {
  std::map<std::string, int> out;
  for (const auto& node : graph.node()) ++out[node.op_type()];
  return out;
}

std::map<std::string, std::string> external_of(const ::onnx::TensorProto& tensor) {
  std::map<std::string, std::string> out;
  for (const auto& pair : tensor.external_data()) out[pair.key()] = pair.value();
  return out;
}

const ::onnx::TensorProto* find_initializer(const ::onnx::GraphProto& graph, const std::string& name) {
  for (const auto& tensor : graph.initializer())
    if (tensor.name() == name) return &tensor;
  return nullptr;
}

const ::onnx::NodeProto* find_node(const ::onnx::GraphProto& graph, const std::string& name) {
  for (const auto& node : graph.node())
    if (node.name() == name) return &node;
  return nullptr;
}

Model one_input_model(const std::function<void(Builder&, Value)>& build,
                      std::shared_ptr<const Checkpoint> checkpoint = std::make_shared<TensorMap>()) {
  Graph graph;
  Builder b(graph);
  const Value x = b.input("x", DType::f32, {Dim::symbol("n"), 4});
  build(b, x);
  return model_of(std::move(graph), std::move(checkpoint));
}

}  // namespace

TEST_CASE("an encoder is written with the operators that loaders fuse") {
  const TempDir dir;
  CHECK(hf::onnx::write(small_encoder(), dir.path()) == std::vector<std::string>{"model.onnx"});
  const ::onnx::ModelProto model = parsed(dir / "model.onnx");
  CHECK(model.ir_version() == 8);
  REQUIRE(model.opset_import_size() == 1);
  CHECK(model.opset_import(0).domain() == "");
  CHECK(model.opset_import(0).version() == 17);
  const std::map<std::string, int> expected{{"Add", 22},
                                            {"Cast", 1},
                                            {"Div", 2},
                                            {"Erf", 2},
                                            {"Gather", 2},
                                            {"Identity", 1},
                                            {"LayerNormalization", 5},
                                            {"MatMul", 17},
                                            {"Mul", 6},
                                            {"Reshape", 9},
                                            {"Shape", 1},
                                            {"Slice", 1},
                                            {"Softmax", 2},
                                            {"Transpose", 11},
                                            {"Where", 2}};
  CHECK(count_operators(model.graph()) == expected);
}

TEST_CASE("inputs and outputs are the graph's, with their symbolic axes") {
  const TempDir dir;
  hf::onnx::write(small_encoder(), dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  REQUIRE(graph.input_size() == 2);
  CHECK(graph.input(0).name() == "input_ids");
  CHECK(graph.input(1).name() == "attention_mask");
  const auto& shape = graph.input(0).type().tensor_type().shape();
  REQUIRE(shape.dim_size() == 2);
  CHECK(shape.dim(0).dim_param() == "batch_size");
  CHECK(shape.dim(1).dim_param() == "sequence_length");
  REQUIRE(graph.output_size() == 2);
  CHECK(graph.output(0).name() == "logits");
  CHECK(graph.output(0).type().tensor_type().shape().dim(2).dim_value() == 40);
}

TEST_CASE("nodes are named by checkpoint path and operator") {
  const TempDir dir;
  hf::onnx::write(small_encoder(), dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  CHECK(find_node(graph, "encoder.layer.1.attention.self/MatMul_1") != nullptr);
  CHECK(find_node(graph, "encoder.layer.0.attention.output.dense/MatMul") != nullptr);
  const auto* normal = find_node(graph, "encoder.layer.0.output.LayerNorm/LayerNormalization");
  REQUIRE(normal != nullptr);
  CHECK(normal->output(0) == "hidden_states.1");
}

TEST_CASE("a weight that only layers read is stored as MatMul wants it") {
  const TempDir dir;
  const Model model = small_encoder();
  hf::onnx::write(model, dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  const auto* up = find_initializer(graph, "encoder.layer.0.intermediate.dense.weight.T");
  REQUIRE(up != nullptr);
  CHECK(up->dims(0) == 12);
  CHECK(up->dims(1) == 24);
  const TensorView stored = model.checkpoint->view("encoder.layer.0.intermediate.dense.weight");
  const auto* written = reinterpret_cast<const float*>(up->raw_data().data());
  CHECK(written[1] == stored.as<float>()[12]);  // [0, 1] is the second row's first
  CHECK(find_initializer(graph, "encoder.layer.0.intermediate.dense.weight") == nullptr);
}

TEST_CASE("tied weights are in the file once") {
  const TempDir dir;
  hf::onnx::write(small_encoder(), dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  int tables = 0;
  for (const auto& tensor : graph.initializer())
    tables += tensor.name().starts_with("embeddings.word") ? 1 : 0;
  CHECK(tables == 1);
  const auto* turned = find_node(graph, "cls/Transpose");
  REQUIRE(turned != nullptr);
  CHECK(turned->input(0) == "embeddings.word_embeddings.weight");
}

TEST_CASE("a layer over part of a stored tensor that lies [in, out] takes it as it is") {
  auto map = std::make_shared<TensorMap>();
  map->add("c_attn.weight", made_up("c_attn.weight", {4, 12}));
  const Model model = one_input_model(
      [](Builder& b, Value x) {
        const View columns{{}, {{1, 4, 8}}, {1, 0}};
        const Value w = b.weight(TensorRef{"c_attn.weight", {}, columns}, {4, 4});
        b.output("y", b.op(Linear{}, {x, w}));
      },
      map);
  const TempDir dir;
  hf::onnx::write(model, dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  REQUIRE(graph.initializer_size() == 1);
  CHECK(graph.initializer(0).name() == "c_attn.weight[:,4:8]");
  const auto* written = reinterpret_cast<const float*>(graph.initializer(0).raw_data().data());
  CHECK(written[0] == map->view("c_attn.weight").as<float>()[4]);
  CHECK(written[5] == map->view("c_attn.weight").as<float>()[12 + 5]);
}

TEST_CASE("weights above the limit go to one file beside the model, each on a page") {
  const TempDir dir;
  const Model model = small_encoder();
  CHECK(hf::onnx::write(model, dir.path(), kBeside) ==
        std::vector<std::string>{"model.onnx", "model.onnx_data"});
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  const std::string data = read_text(dir / "model.onnx_data");
  std::uint64_t end = 0;
  int external = 0;
  for (const auto& tensor : graph.initializer()) {
    if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL) {
      CHECK(tensor.name().starts_with("constant/"));
      continue;
    }
    const auto facts = external_of(tensor);
    CHECK(facts.at("location") == "model.onnx_data");
    const std::uint64_t offset = std::stoull(facts.at("offset")), length = std::stoull(facts.at("length"));
    CHECK(offset % 4096 == 0);
    CHECK(offset >= end);
    end = offset + length;
    ++external;
    const std::string& name = tensor.name();
    if (!model.checkpoint->has(name)) continue;
    const auto stored = model.checkpoint->view(name).bytes;
    CHECK(data.compare(offset, length, reinterpret_cast<const char*>(stored.data()), stored.size()) == 0);
  }
  CHECK(external > 30);
  CHECK(data.size() == end);
}

TEST_CASE("weights of exactly the limit stay inside, one byte more does not") {
  const Model model = one_input_model([](Builder& b, Value x) {
    b.output("y", b.add(x, b.constant(made_up("c", {4}))));  // 16 bytes
  });
  const TempDir inside, beside;
  CHECK(hf::onnx::write(model, inside.path(), {.inline_limit_bytes = 16, .progress = nullptr}).size() == 1);
  CHECK(hf::onnx::write(model, beside.path(), {.inline_limit_bytes = 15, .progress = nullptr}).size() == 2);
}

TEST_CASE("the same model gives the same bytes") {
  const TempDir first, second;
  hf::onnx::write(small_encoder(), first.path(), kBeside);
  hf::onnx::write(small_encoder(), second.path(), kBeside);
  for (const char* name : {"model.onnx", "model.onnx_data"})
    CHECK(read_text(first / name) == read_text(second / name));
}

TEST_CASE("weights of another stored type are converted on their way") {
  auto map = std::make_shared<TensorMap>();
  const Tensor exact = made_up("w", {4, 4});
  map->add("w", converted(exact.view(), DType::f16));
  const Model model = one_input_model(
      [](Builder& b, Value x) {
        b.output("y", b.add(x, b.select(b.weight("w", {4, 4}), 0, 1)));
      },
      map);
  const TempDir dir;
  hf::onnx::write(model, dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  const auto* w = find_initializer(graph, "w");
  REQUIRE(w != nullptr);
  CHECK(w->data_type() == ::onnx::TensorProto::FLOAT);
  const Tensor expected = converted(map->view("w"), DType::f32);
  CHECK(w->raw_data() == std::string(reinterpret_cast<const char*>(expected.bytes().data()), 64));
}

TEST_CASE("a tensor larger than the buffer arrives whole, transposed or not") {
  const std::int64_t rows = 1100, columns = 1300;  // 5.7 MB, a block has 4
  auto map = std::make_shared<TensorMap>();
  map->add("w", made_up("w", {rows, columns}));
  Graph graph;
  Builder b(graph);
  const Value x = b.input("x", DType::f32, {Dim::symbol("n"), columns});
  const Value w = b.weight("w", {rows, columns});
  b.output("y", b.linear(x, w, {}, Split{}));
  const TempDir dir;
  hf::onnx::write(model_of(std::move(graph), map), dir.path());
  const std::string data = read_text(dir / "model.onnx_data");
  REQUIRE(data.size() == static_cast<std::size_t>(rows * columns * 4));
  const auto* written = reinterpret_cast<const float*>(data.data());
  const auto stored = map->view("w").as<float>();
  bool same = true;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      same = same && written[c * rows + r] == stored[r * columns + c];
  CHECK(same);
}

TEST_CASE("one value under two names, and an input passed through, are identities") {
  const Model model = one_input_model([](Builder& b, Value x) {
    const Value y = b.tanh(x);
    b.output("first", y);
    b.output("second", y);
    b.output("third", x);
  });
  const TempDir dir;
  hf::onnx::write(model, dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  CHECK(count_operators(graph) == std::map<std::string, int>{{"Identity", 2}, {"Tanh", 1}});
  CHECK(graph.node(0).output(0) == "first");
}

TEST_CASE("constants are stored once and named by what they hold") {
  const Model model = one_input_model([](Builder& b, Value x) {
    const Value y = b.mul(x, b.number(0.5f));
    b.output("y", b.mul(y, b.number(0.5f)));
  });
  const TempDir dir;
  hf::onnx::write(model, dir.path());
  const ::onnx::GraphProto graph = parsed(dir / "model.onnx").graph();
  REQUIRE(graph.initializer_size() == 1);
  CHECK(graph.initializer(0).name() == "constant/fp32(0.5)");
}

TEST_CASE("a smaller model leaves no data of a larger one behind") {
  const TempDir dir;
  hf::onnx::write(small_encoder(), dir.path(), kBeside);
  REQUIRE(std::filesystem::exists(dir / "model.onnx_data"));
  hf::onnx::write(small_encoder(), dir.path());
  CHECK(!std::filesystem::exists(dir / "model.onnx_data"));
}

TEST_CASE("a write that fails leaves the older model as it was") {
  const TempDir dir;
  hf::onnx::write(small_encoder(), dir.path(), kBeside);
  const std::string model = read_text(dir / "model.onnx"), data = read_text(dir / "model.onnx_data");
  Model broken = small_encoder({.hidden = 24});
  broken.checkpoint = std::make_shared<TensorMap>();
  CHECK(error_of([&] { hf::onnx::write(broken, dir.path(), kBeside); }) == ErrorKind::not_found);
  CHECK(read_text(dir / "model.onnx") == model);
  CHECK(read_text(dir / "model.onnx_data") == data);
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 2);
}

TEST_CASE("a graph of one rank of several is refused") {
  const Model model = one_input_model([](Builder& b, Value x) { b.output("y", b.op(AllReduce{}, {x})); });
  const TempDir dir;
  CHECK(error_of([&] { hf::onnx::write(model, dir.path()); }) == ErrorKind::unsupported);
  CHECK(std::filesystem::is_empty(dir.path()));
}
