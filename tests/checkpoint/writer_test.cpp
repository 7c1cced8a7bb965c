#include <doctest/doctest.h>

#include <random>

#include "checkpoint/safetensors/safetensors.h"
#include "checkpoint/safetensors_bytes.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace hf::test {
namespace {

Tensor filled(DType dtype, Sizes shape, unsigned seed) {
  Tensor t(dtype, std::move(shape));
  std::mt19937 random(seed);
  for (std::byte& b : t.bytes()) b = static_cast<std::byte>(random() % (dtype == DType::boolean ? 2 : 256));
  return t;
}

}  // namespace

TEST_CASE("a file is laid out as the reference library lays it out") {
  const TempDir folder;
  const Tensor f = filled(DType::f32, {2, 1}, 1), s = filled(DType::u8, {}, 2);
  safetensors::write(folder / "w.safetensors", {{"f", f.view()}, {"s", s.view()}}, {{"format", "pt"}});
  std::string header =
      R"({"__metadata__":{"format":"pt"},"f":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("s":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  const auto text = [](const Tensor& t) {
    return std::string(reinterpret_cast<const char*>(t.bytes().data()), t.bytes().size());
  };
  CHECK(read_text(folder / "w.safetensors") == safetensors_bytes(header, text(f) + text(s)));
}

TEST_CASE("the data begins at a multiple of eight whatever the names") {
  const TempDir folder;
  const Tensor t = filled(DType::f64, {1}, 3);
  for (std::size_t length = 1; length <= 9; ++length) {
    safetensors::write(folder / "w.safetensors", {{std::string(length, 'n'), t.view()}});
    const std::string bytes = read_text(folder / "w.safetensors");
    CHECK((bytes.size() - 8) % 8 == 0);
    CHECK(bytes.substr(bytes.size() - 8) == std::string(reinterpret_cast<const char*>(t.bytes().data()), 8));
  }
}

TEST_CASE("what is written is read again: every dtype, rank and odd name") {
  const TempDir folder;
  const DType dtypes[] = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                          DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                          DType::u16, DType::u8,  DType::boolean};
  const Sizes shapes[] = {{}, {0}, {1}, {3}, {2, 3}, {2, 0, 5}, {1, 2, 3, 4}};
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const DType dtype : dtypes)
    for (const Sizes& shape : shapes)
      tensors.emplace_back(std::string(name_of(dtype)) + ".\"\\\n\u00e9" + to_string(shape),
                           filled(dtype, shape, static_cast<unsigned>(tensors.size())));
  std::vector<std::pair<std::string, TensorView>> views;
  for (const auto& [name, tensor] : tensors) views.emplace_back(name, tensor.view());
  const std::map<std::string, std::string> metadata{{"k", "v\u00e9"}, {"", "\n"}};
  safetensors::write(folder / "w.safetensors", views, metadata);

  CHECK(safetensors::read_metadata(folder / "w.safetensors") == metadata);
  const auto checkpoint = safetensors::open(folder / "w.safetensors");
  REQUIRE(checkpoint->names().size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CHECK(checkpoint->info(name).dtype == tensor.dtype());
    CHECK(checkpoint->info(name).shape == tensor.shape());
    const TensorView view = checkpoint->view(name);
    CHECK(std::equal(view.bytes.begin(), view.bytes.end(), tensor.bytes().begin(), tensor.bytes().end()));
  }
}

TEST_CASE("an empty list of tensors is written and read") {
  const TempDir folder;
  safetensors::write(folder / "w.safetensors", {});
  CHECK(read_text(folder / "w.safetensors") == safetensors_bytes("{}      ", ""));
  CHECK(safetensors::open(folder / "w.safetensors")->names().empty());
}

TEST_CASE("a name that is given twice, or is the metadata's, is not written") {
  const TempDir folder;
  const Tensor t = filled(DType::u8, {1}, 4);
  CHECK(error_of([&] {
          safetensors::write(folder / "w.safetensors", {{"a", t.view()}, {"a", t.view()}});
        }) == ErrorKind::internal);
  CHECK(error_of([&] {
          safetensors::write(folder / "w.safetensors", {{"__metadata__", t.view()}});
        }) == ErrorKind::internal);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a view whose bytes are not its shape's is not written") {
  const TempDir folder;
  const Tensor t = filled(DType::u8, {3}, 4);
  TensorView wrong = t.view();
  wrong.shape = {4};
  CHECK(error_of([&] {
          safetensors::write(folder / "w.safetensors", {{"a", wrong}});
        }) == ErrorKind::internal);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a name that is not UTF-8 is not written") {
  const TempDir folder;
  const Tensor t = filled(DType::u8, {1}, 4);
  CHECK(error_of([&] {
          safetensors::write(folder / "w.safetensors", {{"a\xff", t.view()}});
        }) == ErrorKind::internal);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a file that cannot be written leaves nothing behind") {
  const TempDir folder;
  const Tensor t = filled(DType::u8, {1}, 4);
  CHECK(error_of([&] {
          safetensors::write(folder / "none" / "w.safetensors", {{"a", t.view()}});
        }) == ErrorKind::io);
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace hf::test
