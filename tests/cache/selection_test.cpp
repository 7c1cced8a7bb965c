#include "cache/mirror/selection.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

std::vector<TreeFile> tree() {
  std::vector<TreeFile> files;
  for (const char* path :
       {"README.md", "config.json", "model.safetensors", "onnx/a/model.onnx", "onnx/config.json"})
    files.push_back({path, 1, std::string(40, 'a'), "", ""});
  return files;
}

std::vector<std::string> chosen(const Selection& selection) {
  std::vector<std::string> paths;
  for (const TreeFile& file : select(tree(), selection, "x")) paths.push_back(file.path);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("Globs are those of Python's fnmatch") {
  CHECK(matches_glob("a/b/c.json", "*.json"));
  CHECK(matches_glob("a/b", "a?b"));
  CHECK(matches_glob(".hidden", "*"));
  CHECK(matches_glob("model-00001.bin", "model-[0-9]*.bin"));
  CHECK(matches_glob("b", "[!a]"));
  CHECK(matches_glob("a\\b", "a\\b"));
  CHECK(matches_glob("onnx/x/y", "onnx/"));
  CHECK_FALSE(matches_glob("a.json2", "*.json"));
  CHECK_FALSE(matches_glob("A.json", "a.json"));
  CHECK_FALSE(matches_glob("onnx", "onnx/"));
}

TEST_CASE("All files unless something is asked for") { CHECK(chosen({}).size() == 5); }

TEST_CASE("Files by name and by folder") {
  CHECK(chosen({.files = {"config.json", "README.md"}}) == Paths{"README.md", "config.json"});
  CHECK(chosen({.files = {"onnx/"}}) == Paths{"onnx/a/model.onnx", "onnx/config.json"});
}

TEST_CASE("Include and exclude") {
  CHECK(chosen({.include = {"*.json", "*.md"}}) == Paths{"README.md", "config.json", "onnx/config.json"});
  CHECK(chosen({.include = {"*.json"}, .exclude = {"onnx/*"}}) == Paths{"config.json"});
  CHECK(chosen({.exclude = {"*.safetensors", "onnx/"}}) == Paths{"README.md", "config.json"});
}

TEST_CASE("What the revision does not have is named") {
  const Caught caught = error_of([] { chosen({.files = {"config.json", "confg.json", "tf/"}}); });
  CHECK(caught == ErrorKind::not_found);
  CHECK(caught.says("\"confg.json\", \"tf/\""));
  CHECK(error_of([] { chosen({.include = {"*.gguf"}}); }) == ErrorKind::not_found);
  CHECK(error_of([] { chosen({.exclude = {"*"}}); }) == ErrorKind::not_found);
}

TEST_CASE("A revision without files has none to miss") { CHECK(select({}, {}, "x").empty()); }
