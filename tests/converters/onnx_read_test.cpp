// Each way the graph of an ONNX file can be wrong, and what strangers' files may have.
#include <doctest/doctest.h>

#include "broken_models.h"

using namespace hf;
using namespace hf::test;

TEST_CASE("the valid model is read, so that what follows fails for its own reason") {
  const Graph graph = read_graph(valid());
  REQUIRE(graph.outputs.size() == 1);
  CHECK(to_string(graph.shape(graph.outputs[0].value)) == "[n, 3]");
}

TEST_CASE("operators that are not known are listed all at once") {
  ModelProto model = valid();
  add_node(model, "Frobnicate", {"x"}, {"a"});
  add_node(model, "Frobnicate", {"x"}, {"b"});
  add_node(model, "Attention", {"x"}, {"c"}).set_domain("com.microsoft");
  add_node(model, "Loop", {"x"}, {"d"});
  const Caught caught = error_in(model);
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("Frobnicate (2)"));
  CHECK(caught.says("com.microsoft.Attention (1)"));
  CHECK(caught.says("Loop (1)"));
}

TEST_CASE("an attribute that would change the meaning") {
  ModelProto model = valid();
  set_integer(first_node(model), "consumed_inputs", 1);
  const Caught caught = error_in(model);
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("consumed_inputs"));
}

TEST_CASE("an attribute that stands twice") {
  ModelProto model = valid();
  NodeProto& node = add_node(model, "Softmax", {"x"}, {"s"});
  set_integer(node, "axis", 0);
  set_integer(node, "axis", 1);
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("opsets that are too old, too new or missing") {
  ModelProto model = valid();
  for (const int version : {-1, 7, 12, 22, 1 << 30}) {
    model.mutable_opset_import(0)->set_version(version);
    CHECK(error_in(model) == (version < 0 ? ErrorKind::integrity : ErrorKind::unsupported));
  }
  model.clear_opset_import();
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("functions") {
  ModelProto model = valid();
  model.add_functions()->set_name("f");
  CHECK(error_in(model) == ErrorKind::unsupported);
}

TEST_CASE("sparse initializers") {
  ModelProto model = valid();
  model.mutable_graph()->add_sparse_initializer();
  CHECK(error_in(model) == ErrorKind::unsupported);
}

TEST_CASE("an input of a node that nothing makes") {
  ModelProto model = valid();
  first_node(model).set_input(1, "nowhere");
  const Caught caught = error_in(model);
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("nowhere"));
}

TEST_CASE("nodes that wait for each other") {
  ModelProto model = valid();
  first_node(model).set_input(1, "b");
  add_node(model, "Tanh", {"y"}, {"b"});
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("a node that uses its own output") {
  ModelProto model = valid();
  first_node(model).set_input(1, "y");
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("a value made twice, by nodes, inputs or initializers") {
  ModelProto twice = valid();
  add_node(twice, "Tanh", {"x"}, {"y"});
  CHECK(error_in(twice) == ErrorKind::integrity);
  ModelProto input = valid();
  add_node(input, "Tanh", {"y"}, {"x"});
  CHECK(error_in(input) == ErrorKind::integrity);
  ModelProto initializer = valid();
  add_node(initializer, "Tanh", {"y"}, {"w"});
  CHECK(error_in(initializer) == ErrorKind::integrity);
  ModelProto tensors = valid();
  add_tensor(tensors, "w", {1}, {1});
  CHECK(error_in(tensors) == ErrorKind::integrity);
  ModelProto inputs = valid();
  *inputs.mutable_graph()->add_input() = inputs.graph().input(0);
  CHECK(error_in(inputs) == ErrorKind::integrity);
}

TEST_CASE("an output that nothing makes, that stands twice, or none at all") {
  ModelProto model = valid();
  model.mutable_graph()->mutable_output(0)->set_name("z");
  CHECK(error_in(model) == ErrorKind::integrity);
  model = valid();
  model.mutable_graph()->add_output()->set_name("y");
  CHECK(error_in(model) == ErrorKind::integrity);
  model = valid();
  model.mutable_graph()->clear_output();
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("an input without a type, of unknown rank, of a negative size, with too many axes") {
  ModelProto model = valid();
  model.mutable_graph()->mutable_input(0)->clear_type();
  CHECK(error_in(model) == ErrorKind::unsupported);
  model = valid();
  auto* type = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->clear_shape();
  CHECK(error_in(model) == ErrorKind::unsupported);
  model = valid();
  type = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->mutable_shape()->mutable_dim(0)->set_dim_value(-2);
  CHECK(error_in(model) == ErrorKind::integrity);
  for (int i = 0; i < 40; ++i) type->mutable_shape()->add_dim()->set_dim_value(1);
  CHECK(error_in(model) == ErrorKind::integrity);
  type->set_elem_type(TensorProto::STRING);
  CHECK(error_in(model) == ErrorKind::unsupported);
}

TEST_CASE("shapes that do not fit are the file's fault") {
  ModelProto model = valid();
  weight(model).set_dims(0, 2);
  weight(model).mutable_float_data()->RemoveLast();
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("sizes that are computed without end") {
  ModelProto model = valid();
  add_integers(model, "c0", {1, 2, 3, 4});
  for (int i = 0; i < 40; ++i) {
    const std::string from = "c" + std::to_string(i);
    set_integer(add_node(model, "Concat", {from, from}, {"c" + std::to_string(i + 1)}), "axis", 0);
  }
  CHECK(error_in(model).kind.has_value());
}

TEST_CASE("expressions that grow without end") {
  ModelProto model = valid();
  add_node(model, "Shape", {"x"}, {"s0"});
  for (int i = 0; i < 64; ++i) {
    const std::string from = "s" + std::to_string(i);
    add_node(model, i % 2 == 0 ? "Mul" : "Add", {from, from}, {"s" + std::to_string(i + 1)});
  }
  add_node(model, "ConstantOfShape", {"s64"}, {"big"});
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("a division by zero, an axis that is none, a permutation that is none") {
  ModelProto model = valid();
  add_integers(model, "zero", {0});
  add_node(model, "Shape", {"x"}, {"s"});
  add_node(model, "Div", {"s", "zero"}, {"d"});
  CHECK(error_in(model) == ErrorKind::integrity);
  model = valid();
  set_integer(add_node(model, "Softmax", {"x"}, {"s"}), "axis", 7);
  CHECK(error_in(model) == ErrorKind::integrity);
  model = valid();
  auto& perm = *add_node(model, "Transpose", {"x"}, {"t"}).add_attribute();
  perm.set_name("perm");
  perm.add_ints(0);
  perm.add_ints(0);
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("a shape that depends on data") {
  ModelProto model = valid();
  auto& k = *model.mutable_graph()->add_input();
  k.set_name("k");
  k.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  k.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
  add_node(model, "Reshape", {"x", "k"}, {"r"});
  const Caught caught = error_in(model);
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("depends on data"));
}

TEST_CASE("what torch writes around shapes comes out as plain sizes") {
  // Expand to [Shape(x)[0], -1 as "keep", 3], as torch's exporter spells x.expand(-1, …)
  ModelProto model = valid();
  add_integers(model, "axes", {1});
  add_node(model, "Unsqueeze", {"x", "axes"}, {"u"});
  add_integers(model, "wanted", {-1, 4, -1});
  add_integers(model, "rank", {3});
  auto& ones = *add_node(model, "ConstantOfShape", {"rank"}, {"ones"}).add_attribute();
  ones.set_name("value");
  ones.mutable_t()->set_data_type(TensorProto::INT64);
  ones.mutable_t()->add_dims(1);
  ones.mutable_t()->add_int64_data(1);
  add_integers(model, "minus", {-1});
  add_node(model, "Mul", {"ones", "minus"}, {"kept"});
  add_node(model, "Equal", {"wanted", "kept"}, {"is_kept"});
  add_node(model, "Where", {"is_kept", "ones", "wanted"}, {"to"});
  add_node(model, "Expand", {"u", "to"}, {"e"});
  model.mutable_graph()->mutable_output(0)->set_name("e");
  const Graph graph = read_graph(model);
  CHECK(to_string(graph.shape(graph.outputs[0].value)) == "[n, 4, 3]");
  CHECK(graph.nodes.size() == 3);  // input, reshape, expand
}

TEST_CASE("a folder is read by its model.onnx, or its only .onnx file") {
  const TempDir dir;
  CHECK(error_of([&] { hf::onnx::read(dir.path()); }) == ErrorKind::not_found);
  read_model(dir, valid());
  CHECK(hf::onnx::read(dir.path()).parts[0].name == "m");
  write_file(dir / "other.onnx", valid().SerializeAsString());
  CHECK(error_of([&] { hf::onnx::read(dir.path()); }) == ErrorKind::usage);
  write_file(dir / "model.onnx", valid().SerializeAsString());
  CHECK(hf::onnx::read(dir.path()).parts[0].name == "model");
}

TEST_CASE("hidden states of strangers are found by their names") {
  ModelProto model = valid();
  add_node(model, "Tanh", {"x"}, {"encoder_hidden_states.0"});
  add_node(model, "Tanh", {"x"}, {"unnamed"});
  const Graph graph = read_graph(model);
  REQUIRE(graph.observed.size() == 1);
  CHECK(graph.observed[0].name == "encoder_hidden_states.0");
}

TEST_CASE("nodes stand where their names say") {
  ModelProto model = valid();
  first_node(model).set_name("/encoder/layer.3/attention/Add");
  const Graph graph = read_graph(model);
  const Node& node = graph.at(graph.outputs[0].value);
  CHECK(node.path == "encoder.layer.3.attention");
  CHECK(node.layer == 3);
}
