#include "checkpoint/config.h"

#include <doctest/doctest.h>

#include "base/file.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace hf::test {
namespace {

Config parse(std::string_view json) { return Config::parse(json, "m/config.json"); }

// What a look-up of "x" says to a value that it cannot take: file, field, value and what is expected.
template <class F>
void check_refused(std::string_view value, std::string_view expected, F&& look_up) {
  const Config config = parse("{\"x\":" + std::string(value) + "}");
  const Caught c = error_of([&] { look_up(config); });
  CAPTURE(value);
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("m/config.json: \"x\" is "), c.message);
  CHECK_MESSAGE(c.says(expected), c.message);
}

}  // namespace

TEST_CASE("a field that is absent or null takes the fallback") {
  for (const char* json : {"{}", "{\"x\":null}"}) {
    const Config config = parse(json);
    CHECK_FALSE(config.has("x"));
    CHECK_FALSE(config.holds("x"));
    CHECK(config.integer("x", 7) == 7);
    CHECK(config.positive("x", 7) == 7);
    CHECK(config.number("x", 0.5) == 0.5);
    CHECK(config.flag("x", true));
    CHECK(config.text("x", "fallback") == "fallback");
    CHECK(config.texts("x").empty());
    const Caught c = error_of([&] { config.integer("x"); });
    CHECK(c == ErrorKind::integrity);
    CHECK(c.message == "m/config.json: has no field \"x\"");
  }
  CHECK(parse("{\"x\":null}").is_null("x"));
  CHECK_FALSE(parse("{}").is_null("x"));
  CHECK_FALSE(parse("{\"x\":0}").is_null("x"));
}

TEST_CASE("a field that is there wins") {
  const Config config = parse(R"({"i":-3,"n":1.5,"f":false,"t":"a","l":["a","b"],"z":0})");
  CHECK(config.integer("i", 7) == -3);
  CHECK(config.integer("i") == -3);
  CHECK(config.number("n", 0) == 1.5);
  CHECK(config.number("i", 0) == -3);
  CHECK_FALSE(config.flag("f", true));
  CHECK(config.text("t", "") == "a");
  CHECK(config.texts("l") == std::vector<std::string>{"a", "b"});
  CHECK(config.has("z"));
  CHECK(config.subject() == "m/config.json");
}

TEST_CASE("an integer of another type is refused") {
  for (const char* value : {"1.0", "1e3", "\"1\"", "true", "[]", "{}"})
    check_refused(value, "a whole number is expected", [](const Config& c) { c.integer("x", 1); });
}

TEST_CASE("an integer beyond 64 bits is refused") {
  CHECK(parse("{\"x\":9223372036854775807}").integer("x") == INT64_MAX);
  CHECK(parse("{\"x\":-9223372036854775808}").integer("x") == INT64_MIN);
  for (const char* value :
       {"9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809"})
    check_refused(value, "a whole number is expected", [](const Config& c) { c.integer("x"); });
}

TEST_CASE("a size below 1 or above two billion is refused") {
  CHECK(parse("{\"x\":2147483648}").positive("x", 1) == 2147483648);
  for (const char* value : {"0", "-1", "2147483649", "9223372036854775807"})
    check_refused(value, "a number from 1 to 2147483648 is expected",
                  [](const Config& c) { c.positive("x", 1); });
  check_refused("1.5", "a whole number is expected", [](const Config& c) { c.positive("x", 1); });
}

TEST_CASE("a fallback out of bounds is refused like a value") {
  CHECK(error_of([] { parse("{}").positive("x", 0); }) == ErrorKind::integrity);
}

TEST_CASE("a number of another type is refused") {
  for (const char* value : {"\"1\"", "true", "[1]", "{}"})
    check_refused(value, "a number is expected", [](const Config& c) { c.number("x", 1); });
}

TEST_CASE("a number that no double holds is refused where it is read") {
  CHECK(error_of([] { parse("{\"x\":1e999}"); }) == ErrorKind::integrity);
}

TEST_CASE("a flag of another type is refused") {
  for (const char* value : {"0", "1", "\"true\"", "[]"})
    check_refused(value, "true or false is expected", [](const Config& c) { c.flag("x", true); });
}

TEST_CASE("a text of another type is refused") {
  for (const char* value : {"0", "true", "[\"a\"]", "{}"})
    check_refused(value, "a text is expected", [](const Config& c) { c.text("x", ""); });
}

TEST_CASE("a list of texts of another type is refused") {
  for (const char* value : {"\"a\"", "1", "{}", "[1]", "[\"a\",null]", "[[\"a\"]]"})
    check_refused(value, "a list of texts is expected", [](const Config& c) { c.texts("x"); });
}

TEST_CASE("a long or hostile value is cut and escaped in the message") {
  const Config config = parse("{\"x\":\"\\u001b[2J" + std::string(1000, 'y') + "\"}");
  const Caught c = error_of([&] { config.integer("x"); });
  CHECK(c.message.find('\x1b') == std::string::npos);
  CHECK(c.message.size() < 200);
}

TEST_CASE("holds is what Python takes for true") {
  for (const char* value : {"false", "0", "0.0", "\"\"", "[]", "{}", "null"})
    CHECK_FALSE(parse("{\"x\":" + std::string(value) + "}").holds("x"));
  for (const char* value : {"true", "1", "-0.5", "\"a\"", "[0]", "{\"0\":[1]}"})
    CHECK(parse("{\"x\":" + std::string(value) + "}").holds("x"));
}

TEST_CASE("labels are counted by id2label, else num_labels, else there are two") {
  CHECK(parse("{}").num_labels() == 2);
  CHECK(parse(R"({"num_labels":5})").num_labels() == 5);
  CHECK(parse(R"({"id2label":{"0":"a","1":"b","2":"c"}})").num_labels() == 3);
  CHECK(parse(R"({"id2label":{"0":"a"},"num_labels":5})").num_labels() == 1);
  CHECK(parse(R"({"id2label":null,"num_labels":4})").num_labels() == 4);
}

TEST_CASE("an id2label that is no map of labels is refused") {
  for (const char* value : {"[]", "{}", "3", "[\"a\",\"b\"]", "\"a\""}) {
    const Caught c = error_of([&] { parse("{\"id2label\":" + std::string(value) + "}").num_labels(); });
    CHECK(c == ErrorKind::integrity);
    CHECK_MESSAGE(c.says("m/config.json: \"id2label\" is "), c.message);
  }
  CHECK(error_of([] { parse(R"({"num_labels":0})").num_labels(); }) == ErrorKind::integrity);
}

TEST_CASE("a config that is no JSON object is refused with its name") {
  for (const char* json : {"[]", "1", "null", "\"a\""}) {
    const Caught c = error_of([&] { parse(json); });
    CHECK(c == ErrorKind::integrity);
    CHECK(c.message == "m/config.json: is not a JSON object");
  }
  for (const char* json : {"", "{", "{\"a\":}", "{'a':1}", "{\"a\":NaN}"}) {
    const Caught c = error_of([&] { parse(json); });
    CHECK(c == ErrorKind::integrity);
    CHECK_MESSAGE(c.says("m/config.json: not JSON"), c.message);
  }
  CHECK(error_of([] { parse(std::string(200, '[')); }).says("deeper than 100 levels"));
}

TEST_CASE("of a field that stands twice the last counts, as in Python") {
  CHECK(parse(R"({"x":1,"x":2})").integer("x") == 2);
}

TEST_CASE("a folder's config.json is read, its absence is not found") {
  const TempDir folder;
  const Caught c = error_of([&] { Config::load(folder.path()); });
  CHECK(c == ErrorKind::not_found);
  CHECK_MESSAGE(c.says("config.json"), c.message);
  write_file(folder / "config.json", "{\"x\":3}");
  const Config config = Config::load(folder.path());
  CHECK(config.integer("x") == 3);
  CHECK(config.subject() == (folder / "config.json").string());
}

TEST_CASE("a config.json of more than 16 MiB is not read") {
  const TempDir folder;
  write_file(folder / "config.json", "{\"x\":\"" + std::string((16u << 20), 'y') + "\"}");
  CHECK(error_of([&] { Config::load(folder.path()); }) == ErrorKind::integrity);
}

}  // namespace hf::test
