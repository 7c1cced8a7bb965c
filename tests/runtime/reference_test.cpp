#include "runtime/compare/reference.h"

#include <doctest/doctest.h>

#include "base/file.h"
#include "checkpoint/safetensors/safetensors.h"
#include "run_op.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::runtime;
using namespace hf::test;

namespace {

const Tensor kIds = tensor(DType::i32, {1, 2}, {3, 4}), kLogits = tensor(DType::f32, {1, 1}, {0.5});

void write(const std::filesystem::path& file, const std::map<std::string, std::string>& metadata = {}) {
  safetensors::write(file, {{"inputs.input_ids", kIds.view()}, {"outputs.logits", kLogits.view()}}, metadata);
}

}  // namespace

TEST_CASE("a reference has inputs and outputs by name") {
  const TempDir dir;
  write(dir / "r.safetensors");
  const Reference reference = read_reference(dir / "r.safetensors");
  CHECK(reference.inputs.at("input_ids").shape == Sizes{1, 2});
  CHECK(reference.outputs.at("logits").as<float>()[0] == 0.5f);
  CHECK(reference.noise_of("logits") == 0);
}

TEST_CASE("noise is read from the metadata and from case.json") {
  const TempDir dir;
  write(dir / "r.safetensors", {{"noise.logits", "2.50e-06"}, {"task", "fill-mask"}});
  CHECK(read_reference(dir / "r.safetensors").noise_of("logits") == 2.5e-6);
  write(dir / "r.safetensors");
  write_file(dir / "case.json", R"({"fp32_vs_fp64_max_abs": {"outputs.logits": 1e-05}})");
  CHECK(read_reference(dir / "r.safetensors").noise_of("logits") == 1e-5);
}

TEST_CASE("noise that is no number, negative or infinite is refused") {
  const TempDir dir;
  for (const char* text : {"", "small", "-1e-6", "inf", "nan", "1e-6 "}) {
    CAPTURE(text);
    write(dir / "r.safetensors", {{"noise.logits", text}});
    CHECK(error_of([&] { read_reference(dir / "r.safetensors"); }) == ErrorKind::integrity);
  }
  write(dir / "r.safetensors");
  for (const char* text :
       {R"({"fp32_vs_fp64_max_abs": 3})", R"({"fp32_vs_fp64_max_abs": {"outputs.logits": "x"}})",
        R"({"fp32_vs_fp64_max_abs": {"outputs.logits": -1}})", "{"}) {
    CAPTURE(text);
    write_file(dir / "case.json", text);
    CHECK(error_of([&] { read_reference(dir / "r.safetensors"); }) == ErrorKind::integrity);
  }
}

TEST_CASE("a file of other tensors is no reference") {
  const TempDir dir;
  safetensors::write(dir / "r.safetensors", {{"weight", kLogits.view()}});
  const Caught caught = error_of([&] { read_reference(dir / "r.safetensors"); });
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("\"weight\""));
}

TEST_CASE("a reference without inputs or without outputs is refused") {
  const TempDir dir;
  safetensors::write(dir / "r.safetensors", {{"outputs.logits", kLogits.view()}});
  CHECK(error_of([&] { read_reference(dir / "r.safetensors"); }).says("has no inputs.NAME"));
  safetensors::write(dir / "r.safetensors", {{"inputs.input_ids", kIds.view()}});
  CHECK(error_of([&] { read_reference(dir / "r.safetensors"); }).says("has no outputs.NAME"));
}

TEST_CASE("a reference that is not there") {
  const TempDir dir;
  CHECK(error_of([&] { read_reference(dir / "r.safetensors"); }) == ErrorKind::not_found);
}
