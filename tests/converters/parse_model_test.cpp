// Files that are no ONNX model, or would take more memory than they are worth.
#include "converters/onnx/parse_model.h"

#include <doctest/doctest.h>

#include "broken_models.h"

using namespace hf;
using namespace hf::test;

namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string field(int number, const std::string& content) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}

}  // namespace

TEST_CASE("an empty file") {
  const TempDir dir;
  CHECK(error_of([&] { read_bytes(dir, ""); }) == ErrorKind::integrity);
}

TEST_CASE("a file of other bytes") {
  const TempDir dir;
  for (const char* bytes : {"{\"a\": 1}", "PK\x03\x04", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"})
    CHECK(error_of([&] { read_bytes(dir, bytes); }) == ErrorKind::integrity);
}

TEST_CASE("a file cut off anywhere is an error or a smaller model, never a crash") {
  const std::string whole = valid().SerializeAsString();
  const TempDir dir;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(error_of([&] { read_bytes(dir, whole.substr(0, size)); }).kind.has_value());
  }
}

TEST_CASE("a length beyond the file") {
  CHECK(error_of([&] {
          hf::onnx::check_wire(std::as_bytes(std::span(std::string_view("\x3a\xff\xff\xff\xff\x0f", 6))));
        }) == ErrorKind::integrity);
}

TEST_CASE("messages nested without end") {
  std::string graph;
  for (int i = 0; i < 40; ++i) graph = field(1, field(5, field(6, graph)));  // node, attribute, graph
  const std::string model = field(7, graph);
  const Caught caught = error_of([&] { hf::onnx::check_wire(std::as_bytes(std::span(model))); });
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("nested"));
}

TEST_CASE("millions of empty messages, which would take a hundred times their bytes") {
  std::string nodes;
  for (int i = 0; i < 4'100'000; ++i) nodes += std::string("\x0a\x00", 2);
  const std::string model = field(7, nodes);
  const Caught caught = error_of([&] { hf::onnx::check_wire(std::as_bytes(std::span(model))); });
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("fields"));
}
