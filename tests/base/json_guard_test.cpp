#include "base/json_guard.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/error_of.h"

using namespace hf;
using hf::test::error_of;

namespace {

std::string nested(int levels, const std::string& inside) {
  return std::string(static_cast<std::size_t>(levels), '[') + inside +
         std::string(static_cast<std::size_t>(levels), ']');
}

hf::test::Caught refusal(std::string_view text, DuplicateKeys duplicates = DuplicateKeys::allowed) {
  return error_of([&] { parse_json(text, "config.json", duplicates); });
}

}  // namespace

TEST_CASE("JSON parses to its value") {
  const nlohmann::json json = parse_json(R"({"a": [1, 2.5, null, true], "b": {"c": "ü"}})", "x");
  CHECK(json["a"][1] == 2.5);
  CHECK(json["b"]["c"] == "ü");
}

TEST_CASE("what is not JSON is an integrity error that names the file and the place") {
  for (const char* text : {"", "{", "{\"a\": 1,}", "[1 2]", "nul", "{\"a\"}", "'a'", "\"\x01\"", "\"\xff\"",
                           "1 2", "{\"a\": NaN}", "[Infinity]", "01", "\"\\ud800\"", "// c\n1"}) {
    CAPTURE(text);
    const auto caught = refusal(text);
    CHECK(caught == ErrorKind::integrity);
    CHECK(caught.says("config.json: not JSON"));
  }
  CHECK(refusal("[1, }").says("byte 5"));
}

TEST_CASE("a zero byte is refused wherever it stands") {
  using namespace std::string_literals;
  for (const std::string& text : {"{}\0"s, "\0{}"s, "{}\0{\"a\": 1}"s, "{\"a\0\": 1}"s, "{\0}"s}) {
    const auto caught = refusal(text);
    CHECK(caught == ErrorKind::integrity);
    CHECK(caught.message == "config.json: not JSON, error at byte " + std::to_string(text.find('\0') + 1));
  }
}

TEST_CASE("a number too large for a double is an integrity error") {
  CHECK(refusal("[1e999]") == ErrorKind::integrity);
  CHECK(refusal("{\"a\": -1e400}") == ErrorKind::integrity);
}

TEST_CASE("integers keep 64 bits, larger ones become doubles") {
  CHECK(parse_json("9223372036854775807", "x").get<std::int64_t>() == INT64_MAX);
  CHECK(parse_json("18446744073709551616", "x").is_number_float());
}

TEST_CASE("a hundred levels are the deepest") {
  for (const char* inside : {"", "1", "{}"}) {
    CHECK(refusal(nested(inside[0] == '{' ? 99 : 100, inside)).kind == std::nullopt);
    const auto caught = refusal(nested(inside[0] == '{' ? 100 : 101, inside));
    CHECK(caught == ErrorKind::integrity);
    CHECK(caught.says("nested deeper than 100 levels"));
  }
  CHECK(refusal(std::string(1'000'000, '[')) == ErrorKind::integrity);
  std::string objects;
  for (int i = 0; i < 101; ++i) objects += "{\"a\":";
  CHECK(refusal(objects).says("nested deeper"));
}

TEST_CASE("a key twice in one object is refused where asked, however it is spelled") {
  const auto caught = refusal(R"({"x": {"a": 1, "\u0061": 2}})", DuplicateKeys::refused);
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.message == "config.json: key \"a\" stands twice in one object");
  CHECK(refusal(R"([{"a": 1}, {"a": 1, "b": {"a": 2}}, {"b": 1}])", DuplicateKeys::refused).kind ==
        std::nullopt);
  CHECK(parse_json(R"({"a": 1, "a": 2})", "x")["a"] == 2);  // as Python reads it
}
