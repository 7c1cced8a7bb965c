// Each way the weights of an ONNX file can be wrong.
#include <doctest/doctest.h>

#include "broken_models.h"

using namespace hf;
using namespace hf::test;

namespace {

// The model with w in the file "data", as `facts` say.
ModelProto external(const std::vector<std::pair<std::string, std::string>>& facts) {
  ModelProto model = valid();
  weight(model).clear_float_data();
  weight(model).set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : facts) {
    auto& pair = *weight(model).add_external_data();
    pair.set_key(key);
    pair.set_value(value);
  }
  return model;
}

// With a file "data" of 5 floats, 0 to 4, beside it.
Caught external_error(const std::vector<std::pair<std::string, std::string>>& facts) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  const float values[5] = {0, 1, 2, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(values), sizeof values);
  write_file(dir / "folder" / "data", bytes);
  write_file(dir / "outside", bytes);
  std::filesystem::create_symlink("../outside", dir / "folder" / "link");
  std::filesystem::create_directory(dir / "folder" / "sub");
  write_file(dir / "folder" / "m.onnx", external(facts).SerializeAsString());
  return error_of([&] { hf::onnx::read(dir / "folder" / "m.onnx"); });
}

}  // namespace

TEST_CASE("an initializer with more or fewer elements than its shape says") {
  for (const int count : {0, 2, 4}) {
    ModelProto model = valid();
    weight(model).clear_float_data();
    for (int i = 0; i < count; ++i) weight(model).add_float_data(1);
    CHECK(error_in(model) == ErrorKind::integrity);
  }
  ModelProto raw = valid();
  weight(raw).clear_float_data();
  weight(raw).set_raw_data("12345678901");
  CHECK(error_in(raw) == ErrorKind::integrity);
}

TEST_CASE("an initializer with a negative size, one that overflows, or too many axes") {
  ModelProto model = valid();
  weight(model).set_dims(0, -3);
  CHECK(error_in(model) == ErrorKind::integrity);
  weight(model).set_dims(0, std::int64_t{1} << 62);
  CHECK(error_in(model) == ErrorKind::integrity);
  weight(model).add_dims(std::int64_t{1} << 62);
  CHECK(error_in(model) == ErrorKind::integrity);
  model = valid();
  for (int i = 0; i < 40; ++i) weight(model).add_dims(1);
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("an initializer of an element type that we have none for") {
  for (const int type : {0, 8, 14, 17, 99, -1}) {
    ModelProto model = valid();
    weight(model).set_data_type(type);
    CHECK(error_in(model) == ErrorKind::unsupported);
  }
}

TEST_CASE("a bool that is neither 0 nor 1") {
  ModelProto model = valid();
  weight(model).clear_float_data();
  weight(model).set_data_type(TensorProto::BOOL);
  weight(model).set_raw_data(std::string("\x00\x01\x02", 3));
  CHECK(error_in(model) == ErrorKind::integrity);
}

TEST_CASE("external data where it should be") {
  for (const auto& facts : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {{"location", "data"}, {"offset", "8"}, {"length", "12"}},
           {{"location", "data"}},
           {{"location", "data"}, {"length", "12"}, {"checksum", "0123"}}})
    CHECK(!external_error(facts).kind.has_value());
}

TEST_CASE("external data that leads out of the folder") {
  for (const char* location : {"../outside", "/etc/passwd", "sub/../../outside", "./data", "", "link",
                               "data\\x", "C:data", "sub//data", ".."}) {
    CAPTURE(location);
    CHECK(external_error({{"location", location}}) == ErrorKind::integrity);
  }
}

TEST_CASE("external data that is not there, or is a folder") {
  CHECK(external_error({{"location", "nothing"}}) == ErrorKind::not_found);
  CHECK(external_error({{"location", "sub"}}).kind.has_value());
}

TEST_CASE("external data beyond the end of its file") {
  for (const char* offset : {"9", "20", "21", "18446744073709551615", "9223372036854775807"})
    CHECK(external_error({{"location", "data"}, {"offset", offset}, {"length", "12"}}) ==
          ErrorKind::integrity);
}

TEST_CASE("external data whose length is not its shape's") {
  for (const char* length : {"0", "8", "16", "18446744073709551615"})
    CHECK(external_error({{"location", "data"}, {"length", length}}) == ErrorKind::integrity);
}

TEST_CASE("external data with numbers that are none") {
  for (const char* number : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "99999999999999999999"})
    CHECK(external_error({{"location", "data"}, {"offset", number}}) == ErrorKind::integrity);
}

TEST_CASE("external data with a fact that stands twice, is unknown, or without a location") {
  CHECK(external_error({{"location", "data"}, {"location", "data"}}) == ErrorKind::integrity);
  CHECK(external_error({{"location", "data"}, {"basepath", "/"}}) == ErrorKind::integrity);
  CHECK(external_error({{"offset", "0"}}) == ErrorKind::integrity);
  CHECK(external_error({}) == ErrorKind::integrity);
}

TEST_CASE("external data is mapped, not copied, and read from a Hugging Face cache through its links") {
  const TempDir dir;
  const auto repo = dir / "models--o--m", snapshot = repo / "snapshots" / "c0ffee" / "onnx";
  std::filesystem::create_directories(snapshot);
  std::filesystem::create_directories(repo / "blobs");
  const float values[3] = {5, 6, 7};
  write_file(repo / "blobs" / "d1", std::string(reinterpret_cast<const char*>(values), sizeof values));
  write_file(repo / "blobs" / "m1", external({{"location", "m.onnx_data"}}).SerializeAsString());
  std::filesystem::create_symlink("../../../blobs/m1", snapshot / "m.onnx");
  std::filesystem::create_symlink("../../../blobs/d1", snapshot / "m.onnx_data");
  const Model model = hf::onnx::read(snapshot / "m.onnx");
  CHECK(model.checkpoint->view("w").as<float>()[2] == 7);

  std::filesystem::remove(snapshot / "m.onnx_data");  // another repository's blobs are outside
  std::filesystem::create_directories(dir / "models--o--x" / "blobs");
  std::filesystem::copy(repo / "blobs" / "d1", dir / "models--o--x" / "blobs" / "d1");
  std::filesystem::create_symlink("../../../../models--o--x/blobs/d1", snapshot / "m.onnx_data");
  CHECK(error_of([&] { hf::onnx::read(snapshot / "m.onnx"); }) == ErrorKind::integrity);
}

TEST_CASE("numbers in typed fields are read, whatever the type") {
  for (const int type : {TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::INT8, TensorProto::INT32,
                         TensorProto::BOOL, TensorProto::UINT8}) {
    ModelProto model = valid();
    TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("t");
    tensor.set_data_type(type);
    tensor.add_dims(2);
    tensor.add_int32_data(0);
    tensor.add_int32_data(1);
    const TempDir dir;
    const Model read = read_model(dir, model);
    CHECK(converted(read.checkpoint->view("t"), DType::f64).as<double>()[0] == 0);
  }
}
