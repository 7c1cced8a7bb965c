// Every way a safetensors file can be wrong, by name.
#include <doctest/doctest.h>

#include <functional>

#include "checkpoint/safetensors/safetensors.h"
#include "checkpoint/safetensors_bytes.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace hf::test {
namespace {

safetensors::Header parse(const std::string& bytes) {
  return safetensors::parse_header(std::as_bytes(std::span(bytes)), bytes.size(), "w.safetensors");
}

safetensors::Header parse(std::string_view header, std::string_view data) {
  return parse(safetensors_bytes(header, data));
}

// The header of one tensor "a", data of `bytes` bytes.
Caught refused(std::string_view header, std::size_t bytes = 4) {
  return error_of([&] { parse(header, std::string(bytes, 'x')); });
}

Caught refused_entry(const std::string& one, std::size_t bytes = 4) {
  return refused("{" + one + "}", bytes);
}

#define CHECK_REFUSED(caught, sentence)                  \
  do {                                                   \
    const Caught c = (caught);                           \
    CHECK(c == ErrorKind::integrity);                    \
    CHECK_MESSAGE(c.says(sentence), c.message);          \
    CHECK_MESSAGE(c.says("w.safetensors: "), c.message); \
  } while (false)

}  // namespace

TEST_CASE("a file shorter than the header's length is refused") {
  for (const std::size_t size : {0u, 1u, 7u})
    CHECK_REFUSED(error_of([&] { parse(std::string(size, '\0')); }),
                  "has " + std::to_string(size) + " bytes, a header of at least 8 is expected");
}

TEST_CASE("a header that is longer than the file is refused") {
  CHECK_REFUSED(error_of([] { parse(safetensors_bytes("{}", "", 3)); }),
                "header of 3 bytes, the file has 10");
}

TEST_CASE("a header of more than 100 MB is refused before anything is read") {
  for (const std::uint64_t length : {100'000'001ull, 1ull << 63, ~0ull})
    CHECK_REFUSED(error_of([&] { parse(safetensors_bytes("{}", "", length)); }),
                  "at most 100000000 are read");
}

TEST_CASE("an empty header is refused") {
  CHECK_REFUSED(error_of([] { parse(safetensors_bytes("", "")); }), "header does not begin with \"{\"");
}

TEST_CASE("a header that does not begin with a brace is refused") {
  for (const char* header : {" {}", "[]", "\xEF\xBB\xBF{}", "null", "\n{}"})
    CHECK_REFUSED(refused(header, 0), "header does not begin with \"{\"");
}

TEST_CASE("a header that is no JSON is refused") {
  for (const char* header : {"{", "{]", "{\"a\"", "{}x", "{}{}", "{'a':1}"})
    CHECK_REFUSED(refused(header, 0), "header: not JSON");
}

TEST_CASE("a header with zeros behind its JSON is refused") {
  CHECK_REFUSED(error_of([] { parse(safetensors_bytes(std::string_view("{}\0\0", 4), "")); }), "not JSON");
}

TEST_CASE("a header that is not UTF-8 is refused") { CHECK_REFUSED(refused("{\"\xFF\":1}", 0), "not JSON"); }

TEST_CASE("a header nested deeper than 100 levels is refused") {
  CHECK_REFUSED(refused("{\"a\":" + std::string(100000, '[')), "deeper than 100 levels");
}

TEST_CASE("a tensor that stands twice is refused") {
  const std::string once = entry("a", "F32", "[1]", "[0,4]");
  CHECK_REFUSED(refused("{" + once + "," + once + "}"), "key \"a\" stands twice");
  // The same name spelled by an escape.
  CHECK_REFUSED(refused("{" + once + "," + entry("\\u0061", "F32", "[1]", "[0,4]") + "}"),
                "key \"a\" stands twice");
}

TEST_CASE("a metadata key that stands twice is refused") {
  CHECK_REFUSED(refused(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "key \"k\" stands twice");
  CHECK_REFUSED(refused(R"({"__metadata__":{},"__metadata__":{}})", 0), "stands twice");
}

TEST_CASE("a field of a tensor that stands twice is refused") {
  CHECK_REFUSED(refused(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
                "key \"dtype\" stands twice");
}

TEST_CASE("metadata that is not an object of texts is refused") {
  CHECK_REFUSED(refused(R"({"__metadata__":[]})", 0), "\"__metadata__\" is not an object");
  CHECK_REFUSED(refused(R"({"__metadata__":"pt"})", 0), "\"__metadata__\" is not an object");
  for (const char* value : {"1", "null", "{}", "[\"a\"]", "true"})
    CHECK_REFUSED(refused(std::string(R"({"__metadata__":{"format":)") + value + "}}", 0),
                  "\"__metadata__\" key \"format\" is not a text");
}

TEST_CASE("a tensor that is not described by an object is refused") {
  for (const char* value : {"1", "null", "[]", "\"F32\""})
    CHECK_REFUSED(refused(std::string(R"({"a":)") + value + "}"), "tensor \"a\" has no proper \"dtype\"");
}

TEST_CASE("a tensor without dtype, shape or offsets is refused") {
  CHECK_REFUSED(refused(R"({"a":{"shape":[1],"data_offsets":[0,4]}})"), "no proper \"dtype\"");
  CHECK_REFUSED(refused(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})"), "no proper \"shape\"");
  CHECK_REFUSED(refused(R"({"a":{"dtype":"F32","shape":[1]}})"), "no proper \"data_offsets\"");
}

TEST_CASE("fields of another type are refused") {
  CHECK_REFUSED(refused(R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,4]}})"), "no proper \"dtype\"");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "1", "[0,4]")), "no proper \"shape\"");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "{\"0\":1}", "[0,4]")), "no proper \"shape\"");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[1]", "\"0-4\"")), "no proper \"data_offsets\"");
}

TEST_CASE("sizes that are negative, fractions or no numbers are refused") {
  for (const char* size : {"-1", "1.0", "1e0", "\"1\"", "null", "true", "[1]", "18446744073709551616"})
    CHECK_REFUSED(refused_entry(entry("a", "F32", "[" + std::string(size) + "]", "[0,4]")),
                  "a size of its shape is not a whole number of at least 0");
}

TEST_CASE("sizes beyond 63 bits are refused") {
  for (const char* size : {"9223372036854775808", "18446744073709551615"})
    CHECK_REFUSED(refused_entry(entry("a", "F32", "[" + std::string(size) + "]", "[0,4]")),
                  std::string("has a size of ") + size);
}

TEST_CASE("offsets that are negative, fractions or no numbers are refused") {
  for (const char* offsets : {"[-1,4]", "[0,-4]", "[0.0,4]", "[0,4.0]", "[\"0\",4]", "[null,4]"})
    CHECK_REFUSED(refused_entry(entry("a", "F32", "[1]", offsets)), "data_offsets is not a whole number");
}

TEST_CASE("another number of offsets than two is refused") {
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[1]", "[]")), "has 0 data_offsets, 2 are expected");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[1]", "[0,2,4]")), "has 3 data_offsets, 2 are expected");
}

TEST_CASE("a tensor that ends before it begins is refused") {
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[1]", "[4,0]")), "ends at 0 before it begins at 4");
}

TEST_CASE("a tensor that ends behind the data is refused") {
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[2]", "[0,8]")), "ends at 8, data has 4 bytes");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[1]", "[18446744073709551612,18446744073709551615]")),
                "ends at 18446744073709551615, data has 4 bytes");
}

TEST_CASE("a shape that needs other bytes than the offsets give is refused") {
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[2]", "[0,4]")), "its shape needs another number");
  CHECK_REFUSED(refused_entry(entry("a", "F64", "[1]", "[0,4]")), "fp64 [1] has 4 bytes of data");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[0]", "[0,4]")), "its shape needs another number");
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[]", "[0,0]"), 0), "its shape needs another number");
}

TEST_CASE("a shape whose elements overflow 64 bits is refused") {
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[4294967296,4294967296]", "[0,0]"), 0),
                "more elements than 64 bits count");
  // 2^62 elements fit, their bytes would wrap to 0.
  CHECK_REFUSED(refused_entry(entry("a", "F32", "[4611686018427387904]", "[0,0]"), 0),
                "its shape needs another number");
}

TEST_CASE("a shape with a zero has no elements wherever the zero stands") {
  for (const char* shape : {"[0,4294967296,4294967296]", "[4294967296,0,4294967296]",
                            "[4294967296,4294967296,0]", "[9223372036854775807,9223372036854775807,0]"}) {
    const auto header = parse("{" + entry("a", "F32", shape, "[0,0]") + "}", "");
    CHECK(elements(header.tensors.at("a").info.shape) == 0);
  }
}

TEST_CASE("a dtype that is not known is unsupported") {
  for (const char* dtype : {"F8_E4M3", "I4", "f32", "", "C64", "F320"}) {
    const Caught c = refused_entry(entry("a", dtype, "[1]", "[0,4]"));
    CHECK(c == ErrorKind::unsupported);
    CHECK_MESSAGE(c.says("tensor \"a\" has dtype \"" + std::string(dtype) + "\""), c.message);
  }
}

TEST_CASE("more than 64 axes are refused") {
  const auto ones = [](int count) {
    std::string shape = "[1";
    for (int i = 1; i < count; ++i) shape += ",1";
    return shape + "]";
  };
  CHECK_REFUSED(refused_entry(entry("a", "F32", ones(65), "[0,4]")), "has 65 axes, at most 64 are read");
  CHECK(parse("{" + entry("a", "F32", ones(64), "[0,4]") + "}", "xxxx").tensors.at("a").info.shape.size() ==
        64);
}

TEST_CASE("bytes of data before, between and behind tensors are refused") {
  const std::string b = entry("b", "U8", "[2]", "[2,4]");
  CHECK_REFUSED(refused_entry(b), "tensor \"b\" begins at 2, 0 is expected (no holes, no overlap)");
  CHECK_REFUSED(refused("{" + entry("a", "U8", "[1]", "[0,1]") + "," + b + "}"),
                "tensor \"b\" begins at 2, 1 is expected");
  CHECK_REFUSED(refused_entry(entry("a", "U8", "[2]", "[0,2]")), "tensors end at 2, data has 4 bytes");
  CHECK_REFUSED(refused("{}", 1), "tensors end at 0, data has 1 bytes");
}

TEST_CASE("tensors that share bytes are refused") {
  CHECK_REFUSED(
      refused("{" + entry("a", "U8", "[3]", "[0,3]") + "," + entry("b", "U8", "[2]", "[2,4]") + "}"),
      "tensor \"b\" begins at 2, 3 is expected");
  CHECK_REFUSED(
      refused("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[4]", "[0,4]") + "}"),
      "tensor \"b\" begins at 0, 4 is expected");
}

TEST_CASE("names that would act on a terminal are shown escaped") {
  CHECK_REFUSED(refused_entry(entry("a\\u0000\\u001b[2J\\u202e", "F32", "[2]", "[0,4]")),
                R"(tensor "a\x00\x1b[2J\xe2\x80\xae")");
}

TEST_CASE("a wrong file is named as it is shown") {
  const TempDir folder;
  const auto file = folder / "a\x1b.safetensors";
  write_file(file, "short");
  const Caught c = error_of([&] { safetensors::open(file); });
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("a\\x1b.safetensors: has 5 bytes"), c.message);
}

TEST_CASE("a file that is not there is said to be so") {
  const TempDir folder;
  CHECK(error_of([&] { safetensors::open(folder / "none.safetensors"); }) == ErrorKind::not_found);
}

TEST_CASE("an empty list of tensors is accepted") {
  CHECK(parse("{}", "").tensors.empty());
  CHECK(parse(R"({"__metadata__":null})", "").metadata.empty());
}

TEST_CASE("spaces behind the header are accepted") {
  CHECK(parse("{" + entry("a", "U8", "[1]", "[0,1]") + "}     ", "x").tensors.size() == 1);
}

TEST_CASE("fields of a tensor that are not known are accepted") {
  CHECK(parse(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"note":"new"}})", "x").tensors.size() ==
        1);
}

TEST_CASE("scalars and tensors without elements are accepted, wherever these stand") {
  const auto header =
      parse("{" + entry("s", "F32", "[]", "[0,4]") + "," + entry("z", "F32", "[0,3]", "[4,4]") + "," +
                entry("y", "I64", "[2,0]", "[0,0]") + "}",
            "xxxx");
  CHECK(header.tensors.at("s").info.shape.empty());
  CHECK(header.tensors.at("z").info.shape == Sizes{0, 3});
  CHECK(header.tensors.at("y").begin == 0);
}

TEST_CASE("tensors may stand in any order") {
  const auto header =
      parse("{" + entry("a", "U8", "[1]", "[3,4]") + "," + entry("b", "U8", "[3]", "[0,3]") + "}", "xxxx");
  CHECK(header.tensors.at("a").begin == 3);
  CHECK(header.tensors.at("b").end == 3);
}

TEST_CASE("every dtype of the format that a tensor has is read") {
  const std::pair<const char*, DType> rows[] = {
      {"F64", DType::f64},     {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16},
      {"I64", DType::i64},     {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},
      {"U64", DType::u64},     {"U32", DType::u32}, {"U16", DType::u16}, {"U8", DType::u8},
      {"BOOL", DType::boolean}};
  for (const auto& [name, dtype] : rows) {
    const std::size_t bytes = size_of(dtype);
    const auto header = parse("{" + entry("a", name, "[1]", "[0," + std::to_string(bytes) + "]") + "}",
                              std::string(bytes, '\0'));
    CHECK(header.tensors.at("a").info.dtype == dtype);
  }
}

TEST_CASE("data that is not aligned is read right") {
  const TempDir folder;
  const float values[] = {1.5f, -2.25f};
  const std::string floats(reinterpret_cast<const char*>(values), sizeof values);
  for (const char* spaces : {"", " ", "  ", "   "}) {  // the data begins at every residue of 4
    const std::string header =
        "{" + entry("b", "U8", "[1]", "[0,1]") + "," + entry("f", "F32", "[2]", "[1,9]") + "}" + spaces;
    write_file(folder / "odd.safetensors", safetensors_bytes(header, "x" + floats));
    const auto checkpoint = safetensors::open(folder / "odd.safetensors");
    const Tensor loaded = load(*checkpoint, {"f", {}, {}}, DType::f32);
    CHECK(loaded.as<float>()[0] == 1.5f);
    CHECK(loaded.as<float>()[1] == -2.25f);
    const Tensor wide = load(*checkpoint, {"f", {}, {}}, DType::f64);
    CHECK(wide.as<double>()[1] == -2.25);
  }
}

TEST_CASE("tensors without elements load, however large their other sizes are") {
  const TempDir folder;
  write_file(folder / "z.safetensors",
             safetensors_bytes("{" + entry("a", "F32", "[0,4294967296,4294967296]", "[0,0]") + "}", ""));
  const auto checkpoint = safetensors::open(folder / "z.safetensors");
  CHECK(load(*checkpoint, {"a", {}, {}}, DType::f32).size() == 0);
}

TEST_CASE("metadata is read") {
  const TempDir folder;
  write_file(folder / "m.safetensors",
             safetensors_bytes(R"({"__metadata__":{"format":"pt","lm_head.weight":"wte.weight"}})", ""));
  const auto metadata = safetensors::read_metadata(folder / "m.safetensors");
  CHECK(metadata.size() == 2);
  CHECK(metadata.at("format") == "pt");
}

TEST_CASE("a tensor that is asked for by a name that the file lacks is not found") {
  const TempDir folder;
  write_file(folder / "m.safetensors", safetensors_bytes("{" + entry("a", "U8", "[1]", "[0,1]") + "}", "x"));
  const auto checkpoint = safetensors::open(folder / "m.safetensors");
  for (const auto& look_up :
       {std::function<void()>([&] { checkpoint->info("b\n"); }),
        std::function<void()>([&] { checkpoint->view("b\n"); }),
        std::function<void()>([&] { checkpoint->release("b\n"); }), std::function<void()>([&] {
          load(*checkpoint, {"b\n", {"c"}, {}}, DType::f32);
        })}) {
    const Caught c = error_of(look_up);
    CHECK(c == ErrorKind::not_found);
    CHECK_MESSAGE(c.says("m.safetensors: tensor \"b\\x0a\" is not there"), c.message);
  }
  CHECK_FALSE(checkpoint->has("b\n"));
}

TEST_CASE("a released tensor can be read again") {
  const TempDir folder;
  write_file(folder / "m.safetensors", safetensors_bytes("{" + entry("a", "U8", "[2]", "[0,2]") + "}", "xy"));
  const auto checkpoint = safetensors::open(folder / "m.safetensors");
  const auto before = checkpoint->view("a").as<std::uint8_t>()[1];
  checkpoint->release("a");
  CHECK(checkpoint->view("a").as<std::uint8_t>()[1] == before);
}

}  // namespace hf::test
