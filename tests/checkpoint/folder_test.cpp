#include <doctest/doctest.h>

#include "base/file.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors_bytes.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace hf::test {
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";

// A safetensors file with one byte for each name.
void write_weights(const std::filesystem::path& file, std::initializer_list<const char*> names) {
  std::string header, data;
  for (const char* name : names) {
    const std::string begin = std::to_string(data.size());
    data += name[0];
    header += (header.empty() ? "{" : ",") +
              entry(name, "U8", "[1]", "[" + begin + "," + std::to_string(data.size()) + "]");
  }
  write_file(file, safetensors_bytes(header + "}", data));
}

// A folder of two shards, and the index's weight_map as it is given.
struct Shards {
  explicit Shards(const std::string& weight_map) {
    write_weights(folder / "one.safetensors", {"a", "b"});
    write_weights(folder / "two.safetensors", {"c"});
    write_file(folder / kIndex, R"({"metadata":{"total_size":3},"weight_map":)" + weight_map + "}");
  }
  Caught refusal() const {
    return error_of([&] { open_folder(folder.path()); });
  }
  TempDir folder;
};

void check_refused(const std::string& weight_map, ErrorKind kind, std::string_view sentence) {
  const Caught c = Shards(weight_map).refusal();
  CHECK(c == kind);
  CHECK_MESSAGE(c.says(sentence), c.message);
  CHECK_MESSAGE(c.says(kIndex), c.message);
}

}  // namespace

TEST_CASE("a sharded folder is one checkpoint") {
  const Shards shards(R"({"a":"one.safetensors","c":"two.safetensors","b":"one.safetensors"})");
  const auto checkpoint = open_folder(shards.folder.path());
  CHECK(checkpoint->names() == std::vector<std::string>{"a", "b", "c"});
  for (const char* name : {"a", "b", "c"}) {
    CHECK(checkpoint->has(name));
    CHECK(checkpoint->info(name).shape == Sizes{1});
    CHECK(checkpoint->view(name).as<char>()[0] == name[0]);
    checkpoint->release(name);
  }
  const Caught c = error_of([&] { checkpoint->view("d"); });
  CHECK(c == ErrorKind::not_found);
  CHECK_MESSAGE(c.says(std::string(kIndex) + ": tensor \"d\" is not there"), c.message);
}

TEST_CASE("a shard's name that leads out of the folder is refused") {
  for (const char* name : {"../one.safetensors", "/etc/passwd", "sub/one.safetensors", "..", ".", "",
                           "one.safetensors\\u0000", "a\\\\b", "C:one"})
    check_refused(R"({"a":")" + std::string(name) + R"("})", ErrorKind::integrity, "");
}

TEST_CASE("a shard that is not there is named") {
  check_refused(R"({"a":"one.safetensors","b":"one.safetensors","c":"three.safetensors"})",
                ErrorKind::not_found, "three.safetensors");
}

TEST_CASE("a shard that is no safetensors file is named") {
  const Shards shards(R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors"})");
  write_file(shards.folder / "two.safetensors", "GGUF");
  const Caught c = shards.refusal();
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("two.safetensors: has 4 bytes"), c.message);
}

TEST_CASE("a tensor that its shard lacks is refused") {
  check_refused(
      R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors","d":"two.safetensors"})",
      ErrorKind::integrity, "tensor \"d\" is not in \"two.safetensors\", where the index has it");
}

TEST_CASE("a tensor that the index has in another shard is refused") {
  check_refused(R"({"a":"two.safetensors","b":"one.safetensors","c":"two.safetensors"})",
                ErrorKind::integrity, "tensor \"a\" is not in \"two.safetensors\"");
}

TEST_CASE("a tensor that the index lacks is refused") {
  check_refused(R"({"a":"one.safetensors","c":"two.safetensors"})", ErrorKind::integrity,
                "tensor \"b\" of \"one.safetensors\" is not in the index");
}

TEST_CASE("a tensor that stands in two shards is refused") {
  const Shards shards(R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors"})");
  write_weights(shards.folder / "two.safetensors", {"a", "c"});
  const Caught c = shards.refusal();
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("tensor \"a\" of \"two.safetensors\" is of another shard in the index"), c.message);
}

TEST_CASE("a tensor that the index lists twice is refused") {
  check_refused(
      R"({"a":"one.safetensors","a":"two.safetensors","b":"one.safetensors","c":"two.safetensors"})",
      ErrorKind::integrity, "key \"a\" stands twice");
}

TEST_CASE("an index without a map of names is refused") {
  for (const char* map : {"[]", "null", "\"one.safetensors\"", "1"})
    check_refused(map, ErrorKind::integrity, "has no \"weight_map\" object");
  check_refused("{}", ErrorKind::integrity, "\"weight_map\" is empty");
  check_refused(R"({"a":1})", ErrorKind::integrity, "the shard of tensor \"a\" is not a file name");
  check_refused(R"({"a\u001b":null})", ErrorKind::integrity,
                "the shard of tensor \"a\\x1b\" is not a file name");
  for (const char* text : {"", "[]", "3", "{", "{\"metadata\":{}}"}) {
    const TempDir folder;
    write_file(folder / kIndex, text);
    CHECK(error_of([&] { open_folder(folder.path()); }) == ErrorKind::integrity);
  }
}

TEST_CASE("one file of weights wins over an index, both over all else") {
  const Shards shards(R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors"})");
  write_file(shards.folder / "pytorch_model.bin", "pickle");
  CHECK(open_folder(shards.folder.path())->names().size() == 3);
  write_weights(shards.folder / "model.safetensors", {"z"});
  CHECK(open_folder(shards.folder.path())->names() == std::vector<std::string>{"z"});
}

TEST_CASE("weights that are not read are unsupported, by name") {
  const std::pair<const char*, const char*> rows[] = {
      {"pytorch_model.bin", "a torch pickle (pytorch_model.bin) only"},
      {"pytorch_model.bin.index.json", "torch pickles in shards (pytorch_model.bin.index.json) only"},
      {"tf_model.h5", "TensorFlow weights (tf_model.h5) only"},
      {"flax_model.msgpack", "Flax weights (flax_model.msgpack) only"},
      {"adapter_model.safetensors", "an adapter to another model (adapter_model.safetensors) only"}};
  for (const auto& [file, sentence] : rows) {
    const TempDir folder;
    write_file(folder / file, "x");
    const Caught c = error_of([&] { open_folder(folder.path()); });
    CHECK(c == ErrorKind::unsupported);
    CHECK_MESSAGE(c.says(sentence), c.message);
    CHECK_MESSAGE(c.says("safetensors weights are expected"), c.message);
  }
}

TEST_CASE("a folder without weights, or that is none, is not found") {
  const TempDir folder;
  write_file(folder / "README.md", "x");
  Caught c = error_of([&] { open_folder(folder.path()); });
  CHECK(c == ErrorKind::not_found);
  CHECK_MESSAGE(c.says("has no weights, model.safetensors or model.safetensors.index.json is expected"),
                c.message);
  for (const char* name : {"none", "README.md"}) {
    c = error_of([&] { open_folder(folder / name); });
    CHECK(c == ErrorKind::not_found);
    CHECK_MESSAGE(c.says("is not a folder"), c.message);
  }
}

TEST_CASE("a link to weights that leads nowhere is not passed over") {
  const TempDir folder;
  write_file(folder / "pytorch_model.bin", "pickle");
  std::filesystem::create_symlink("../../blobs/gone", folder / "model.safetensors");
  CHECK(error_of([&] { open_folder(folder.path()); }) == ErrorKind::not_found);
  std::filesystem::remove(folder / "model.safetensors");
  std::filesystem::create_symlink("model.safetensors", folder / "model.safetensors");
  CHECK(error_of([&] { open_folder(folder.path()); }) == ErrorKind::io);
}

TEST_CASE("links to weights are followed, as the cache lays them out") {
  const TempDir folder;
  write_weights(folder / "0123abcd", {"a"});
  std::filesystem::create_directory(folder / "snapshot");
  std::filesystem::create_symlink("../0123abcd", folder / "snapshot" / "model.safetensors");
  CHECK(open_folder(folder / "snapshot")->has("a"));
}

TEST_CASE("a single file is opened by its ending") {
  const TempDir folder;
  write_weights(folder / "x.safetensors", {"a"});
  CHECK(open_file(folder / "x.safetensors")->has("a"));
  write_file(folder / "x.bin", "pickle");
  const Caught c = error_of([&] { open_file(folder / "x.bin"); });
  CHECK(c == ErrorKind::unsupported);
  CHECK_MESSAGE(c.says("x.bin: a .safetensors file is expected"), c.message);
}

}  // namespace hf::test
