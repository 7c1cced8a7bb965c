#include "converters/convert.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "converters/staging.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::test;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = fs::path(HF_FIXTURES) / "bert-qa";

ConvertOptions options(bool overwrite = false) {
  ConvertOptions o;
  o.overwrite = overwrite;
  o.version = "1.2.3";
  return o;
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("a folder is converted with what stands beside the weights") {
  const TempDir dir;
  const fs::path source = dir / "source";
  fs::copy(kSource, source);
  write_file(source / "tokenizer.json", "{ \"x\" :1}");
  fs::create_directory(source / "1_Pooling");
  write_file(source / "1_Pooling" / "config.json", "{}");
  write_file(source / "README.md", "not carried");
  const Conversion done = convert(source, format_named("onnx"), dir / "a" / "b", options());
  CHECK(done.files == std::vector<std::string>{"config.json", "tokenizer.json", "1_Pooling/config.json",
                                               "model.onnx", "hfconvert.json"});
  for (const char* name : {"config.json", "tokenizer.json", "1_Pooling/config.json"})
    CHECK(read_text(dir / "a" / "b" / name) == read_text(source / name));
  CHECK(entries(dir / "a" / "b") == 5);
  CHECK(done.class_name == "BertForQuestionAnswering");
  CHECK(format_named("onnx").read(dir / "a" / "b").task == "question-answering");
}

TEST_CASE("the manifest names program, format, task, and the sources by their hashes") {
  const TempDir dir;
  convert(kSource, format_named("onnx"), dir / "out", options());
  const auto manifest = nlohmann::json::parse(read_text(dir / "out" / "hfconvert.json"));
  CHECK(manifest["program"]["version"] == "1.2.3");
  CHECK(manifest["format"]["version"] == "opset 17, IR 8");
  CHECK(manifest["task"] == "question-answering");
  bool found = false;
  for (const auto& source : manifest["sources"]) {
    if (source["file"] != "model.safetensors") continue;
    found = true;
    const std::string bytes = read_text(kSource / "model.safetensors");
    CHECK(source["sha256"] == sha256_hex(std::as_bytes(std::span(bytes))));
    CHECK(source["bytes"] == bytes.size());
  }
  CHECK(found);
}

TEST_CASE("two conversions of one folder are equal to the byte") {
  const TempDir dir;
  convert(kSource, format_named("onnx"), dir / "a", options());
  convert(kSource, format_named("onnx"), dir / "b", options());
  for (const char* name : {"model.onnx", "hfconvert.json"})
    CHECK(read_text(dir / "a" / name) == read_text(dir / "b" / name));
}

TEST_CASE("the source's own folder is refused, however it is spelled") {
  const TempDir dir;
  fs::copy(kSource, dir / "m");
  fs::create_symlink("m", dir / "link");
  for (const fs::path& output : {dir / "m", dir / "link", dir / "m" / "." / ".." / "m"})
    for (const bool overwrite : {false, true})
      CHECK(error_of([&] { convert(dir / "m", format_named("onnx"), output, options(overwrite)); }) ==
            ErrorKind::usage);
  CHECK(!fs::exists(dir / "m" / "model.onnx"));
}

TEST_CASE("a folder that holds something is refused unless it may be overwritten") {
  const TempDir dir;
  write_file(dir / "mine.txt", "mine");
  CHECK(error_of([&] { convert(kSource, format_named("onnx"), dir.path(), options()); }) == ErrorKind::usage);
  CHECK(entries(dir.path()) == 1);
  convert(kSource, format_named("onnx"), dir.path(), options(true));
  CHECK(read_text(dir / "mine.txt") == "mine");
  CHECK(fs::exists(dir / "model.onnx"));
}

TEST_CASE("overwriting takes away what an earlier conversion wrote") {
  const TempDir dir;
  convert(kSource, format_named("onnx"), dir / "out", options());
  auto manifest = nlohmann::json::parse(read_text(dir / "out" / "hfconvert.json"));
  write_file(dir / "out" / "model.onnx_data", "old");
  manifest["files"].push_back({{"file", "model.onnx_data"}, {"bytes", 3}});
  write_file(dir / "out" / "hfconvert.json", manifest.dump());
  convert(kSource, format_named("onnx"), dir / "out", options(true));
  CHECK(!fs::exists(dir / "out" / "model.onnx_data"));
}

TEST_CASE("an earlier manifest that names files elsewhere is refused") {
  const TempDir dir;
  write_file(dir / "victim", "v");
  fs::create_directory(dir / "out");
  write_file(dir / "out" / "hfconvert.json", R"({"files": [{"file": "../victim"}]})");
  CHECK(error_of([&] { convert(kSource, format_named("onnx"), dir / "out", options(true)); }) ==
        ErrorKind::integrity);
  CHECK(fs::exists(dir / "victim"));
}

TEST_CASE("a conversion that fails leaves nothing, and what was there as it was") {
  const TempDir dir;
  const fs::path source = dir / "source";
  fs::copy(kSource, source);
  fs::resize_file(source / "model.safetensors", 1000);
  CHECK(error_of([&] { convert(source, format_named("onnx"), dir / "out", options()); }) ==
        ErrorKind::integrity);
  CHECK(!fs::exists(dir / "out"));
}

TEST_CASE("files made aside appear only when they are published, and go with a failure") {
  const TempDir dir;
  {
    const Staging staging(dir / "out", Staging::Existing::refused);
    write_file(staging.path() / "a", "1");
    CHECK(entries(dir / "out") == 1);
  }
  CHECK(!fs::exists(dir / "out"));
  {
    Staging staging(dir / "out", Staging::Existing::refused);
    write_file(staging.path() / "a", "1");
    staging.publish({"a"}, {});
  }
  CHECK(read_text(dir / "out" / "a") == "1");
  CHECK(entries(dir / "out") == 1);
}

TEST_CASE("what a killed conversion left does not stand in the way") {
  const TempDir dir;
  fs::create_directories(dir / "out" / ".hfconvert.99999");
  write_file(dir / "out" / ".hfconvert.99999" / "model.onnx", "half");
  convert(kSource, format_named("onnx"), dir / "out", options());
  CHECK(!fs::exists(dir / "out" / ".hfconvert.99999"));
}

TEST_CASE("an unknown format is refused with those that there are") {
  const Caught caught = error_of([] { format_named("onyx"); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("onnx"));
}
