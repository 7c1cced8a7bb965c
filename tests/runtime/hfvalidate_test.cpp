// The program as its users see it: output, exit codes, files.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "checkpoint/safetensors/safetensors.h"
#include "run_op.h"
#include "support/child.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

const fs::path kFixtures = HF_FIXTURES;
const std::string kModel = kFixtures / "bert-base",
                  kReference = kFixtures / "bert-base/reference.safetensors";

Ended hfvalidate(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& variables = {}) {
  return run("hfvalidate", arguments, variables);
}

nlohmann::json json_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.push_back("--json");
  return nlohmann::json::parse(hfvalidate(words).out);
}

// The reference of kModel with one tensor changed by `change`, as a file.
template <class Change>
fs::path changed_reference(const TempDir& dir, const std::string& name, Change&& change) {
  const auto file = safetensors::open(kReference);
  Tensor copy = Tensor::copy_of(file->view(name));
  change(copy);
  std::vector<std::pair<std::string, TensorView>> tensors;
  for (const std::string& other : file->names())
    tensors.emplace_back(other, other == name ? copy.view() : file->view(other));
  safetensors::write(dir / "reference.safetensors", tensors);
  return dir / "reference.safetensors";
}

}  // namespace

TEST_CASE("compare finds the reference beside the model and reports each output") {
  const Ended ended = hfvalidate({"compare", kModel});
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out.starts_with("same: "));
  for (const char* text : {"last_hidden_state", "pooler_output", "[2, 11, 36]", "weights ", "activations ",
                           "planned", "measured", "resident"})
    CHECK(ended.out.find(text) != std::string::npos);
  CHECK(ended.out.find("hidden_states.0") == std::string::npos);
  CHECK(hfvalidate({"compare", kModel, "-q"}).out == ended.out.substr(0, ended.out.find('\n') + 1));
}

TEST_CASE("compare --layers reports hidden states in their order") {
  const nlohmann::json report =
      json_of({"compare", kModel, "--against", kReference, "--layers", "--threads", "1"});
  CHECK(report["passed"] == true);
  REQUIRE(report["layers"].size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(report["layers"][i]["name"] == "hidden_states." + std::to_string(i));
    CHECK(report["layers"][i]["max_absolute_error"] < 1e-5);
  }
  CHECK(report["outputs"].size() == 2);
  CHECK(report["only_in_reference"].empty());
  CHECK(report["memory"]["weight_bytes"] > 100000);
  CHECK(report["memory"]["mapped_bytes"] == report["memory"]["weight_bytes"]);
  CHECK(report["memory"]["activation_bytes_measured"] >= report["memory"]["activation_bytes_planned"]);
  CHECK(report["memory"]["activation_bytes_planned"] < report["memory"]["activation_bytes_unplanned"]);
  CHECK(report["memory"]["peak_resident_bytes"] > 1000000);
}

TEST_CASE("a difference ends in 1 and names the first value that differs") {
  const TempDir dir;
  const fs::path file =
      changed_reference(dir, "outputs.hidden_states.2", [](Tensor& t) { t.as<float>()[40] += 1e-3f; });
  CHECK(hfvalidate({"compare", kModel, "--against", file}).code == 0);  // layers were not asked for
  const Ended ended = hfvalidate({"compare", kModel, "--against", file, "--layers"});
  CHECK(ended.code == 1);
  CHECK(ended.out.starts_with("DIFFERENT: "));
  CHECK(ended.out.find(
            "first divergence: hidden_states.2 1 of 792 values are beyond the tolerance, worst [0, 1, 4]") !=
        std::string::npos);
  CHECK(json_of({"compare", kModel, "--against", file, "--layers"})["first_divergence"] == "hidden_states.2");
  CHECK(hfvalidate({"compare", kModel, "--against", file, "--layers", "--tolerance", "0.01"}).code == 0);
}

TEST_CASE("a difference just beyond the tolerance is found") {
  const TempDir dir;
  const fs::path file =
      changed_reference(dir, "outputs.last_hidden_state", [](Tensor& t) { t.as<float>()[0] += 1.5e-5f; });
  CHECK(hfvalidate({"compare", kModel, "--against", file}).code == 1);
}

TEST_CASE("NaN in the reference never passes") {
  const TempDir dir;
  const fs::path file =
      changed_reference(dir, "outputs.pooler_output", [](Tensor& t) { t.as<float>()[3] = NAN; });
  const Ended ended = hfvalidate({"compare", kModel, "--against", file, "--tolerance", "1000000"});
  CHECK(ended.code == 1);
  CHECK(ended.out.find("the reference has NaN in 1 of 72 values") != std::string::npos);
}

TEST_CASE("int32 inputs are taken, a reference that the model cannot take is named") {
  const TempDir dir;
  const auto narrowed = [](Tensor& t) { t = converted(t.view(), DType::i32); };
  CHECK(hfvalidate({"compare", kModel, "--against", changed_reference(dir, "inputs.input_ids", narrowed)})
            .code == 0);
  const auto beyond = [](Tensor& t) { t.as<std::int64_t>()[0] = 1000000; };
  const Ended ended =
      hfvalidate({"compare", kModel, "--against", changed_reference(dir, "inputs.input_ids", beyond)});
  CHECK(ended.code == 6);
  CHECK(ended.err.find("1000000") != std::string::npos);
  CHECK(ended.err.starts_with("hfvalidate: " + (dir / "reference.safetensors").string() + ": "));
  const auto fractions = [](Tensor& t) { t = converted(t.view(), DType::f32); };
  const Ended typed =
      hfvalidate({"compare", kModel, "--against", changed_reference(dir, "inputs.input_ids", fractions)});
  CHECK(typed.code == 6);
  CHECK(typed.err.find("reference.safetensors") != std::string::npos);
  CHECK(hfvalidate({"run", kModel, "--inputs", dir / "reference.safetensors"}).code == 6);
}

TEST_CASE("two models are compared on made inputs") {
  const std::string sharded = kFixtures / "bert-seqcls.safetensors-sharded",
                    whole = kFixtures / "bert-seqcls", half = kFixtures / "bert-seqcls.fp16";
  CHECK(hfvalidate({"compare", sharded, "--against", whole, "--layers", "--tolerance", "0"}).code == 0);
  CHECK(hfvalidate({"compare", half, "--against", whole, "--seed", "5", "--batch", "3", "--sequence", "7"})
            .code == 1);
}

TEST_CASE("models without a common output are not comparable") {
  const Ended ended = hfvalidate(
      {"compare", kFixtures / "bert-qa", "--against", kFixtures / "bert-seqcls/reference.safetensors"});
  CHECK(ended.code == 2);
  CHECK(ended.err.find("no output is in both") != std::string::npos);
}

TEST_CASE("exit codes tell the kind of failure") {
  const TempDir dir;
  write_file(dir / "config.json", R"({"architectures": ["NoSuchModel"]})");
  write_file(dir / "bad.safetensors", "not a safetensors file");
  CHECK(hfvalidate({}).code == 2);
  CHECK(hfvalidate({"compare"}).code == 2);
  CHECK(hfvalidate({"compare", kModel, "--no-such-option"}).code == 2);
  CHECK(hfvalidate({"compare", kModel, "--device", "abacus"}).code == 2);
  CHECK(hfvalidate({"compare", kModel, "--tolerance", "-1"}).code == 2);
  CHECK(hfvalidate({"compare", kModel, "--tolerance", "nan"}).code == 2);
  CHECK(hfvalidate({"compare", kModel, "--tolerance", "inf"}).code == 2);
  CHECK(hfvalidate({"compare", kModel, "--threads", "0"}).code == 2);
  CHECK(hfvalidate({"run", kModel, "--seed", "-1"}).code == 2);
  CHECK(hfvalidate({"run", kModel, "--seed", "18446744073709551616"}).code == 2);
  CHECK(hfvalidate({"run", kModel, "--sequence", "1000"}).code == 2);  // beyond the position embeddings
  CHECK(hfvalidate({"compare", kFixtures / "bert-seqcls.safetensors-sharded"}).code ==
        2);  // has no reference
  CHECK(hfvalidate({"compare", "./no-such-folder"}).code == 3);
  CHECK(hfvalidate({"compare", "acme/not-cached"}, {{"HF_HUB_CACHE", dir.path()}}).code == 3);
  CHECK(hfvalidate({"compare", kModel, "--against", dir / "none.safetensors"}).code == 3);
  CHECK(hfvalidate({"compare", kModel, "--against", dir / "bad.safetensors"}).code == 6);
  CHECK(hfvalidate({"compare", dir.path(), "--against", kReference}).code == 7);
  CHECK(hfvalidate({"run", kModel, "-o", "/proc/place.safetensors"}).code == 8);
  CHECK(hfvalidate({"run", kModel, "-o", dir / "no/such/place.safetensors"}).code == 8);
  const fs::path folder = dir / "folder-as-weights";
  fs::create_directories(folder / "model.safetensors");
  fs::copy(fs::path(kModel) / "config.json", folder / "config.json");
  CHECK(hfvalidate({"run", folder}).code == 6);
}

TEST_CASE("a link as output stays, and what it leads to is written") {
  const TempDir dir;
  fs::create_directory(dir / "far");
  write_file(dir / "far/out.safetensors", "old");
  fs::create_symlink("far/out.safetensors", dir / "link");
  CHECK(hfvalidate({"run", kModel, "-o", dir / "link"}).code == 0);
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(fs::file_size(dir / "far/out.safetensors") > 1000);
  fs::create_symlink("nowhere", dir / "dangling");
  CHECK(hfvalidate({"run", kModel, "-o", dir / "dangling"}).code == 2);
  CHECK_FALSE(fs::exists(dir / "nowhere"));
}

TEST_CASE("hidden states of a reference are told where they are not compared") {
  const Ended ended = hfvalidate({"compare", kModel, "--against", kReference});
  CHECK(ended.out.find("4 hidden states are in the reference, --layers compares them too") !=
        std::string::npos);
  CHECK(json_of({"compare", kModel, "--against", kReference})["layers_left_aside"] == 4);
  CHECK(json_of({"compare", kModel, "--against", kReference, "--layers"})["layers_left_aside"] == 0);
}

TEST_CASE("a repository is found in the cache") {
  const TempDir dir;
  const std::string commit(40, 'a');
  const fs::path repo = dir / "models--acme--tiny";
  fs::create_directories(repo / "snapshots");
  fs::create_directories(repo / "refs");
  fs::copy(kModel, repo / "snapshots" / commit);
  write_file(repo / "refs/main", commit);
  const std::map<std::string, std::string> cache{{"HF_HUB_CACHE", dir.path()}};
  CHECK(hfvalidate({"compare", "acme/tiny"}, cache).code == 0);
  CHECK(hfvalidate({"compare", "acme/tiny", "--revision", commit}, cache).code == 0);
  CHECK(hfvalidate({"compare", "acme/tiny", "--revision", "v2"}, cache).code == 3);
}

TEST_CASE("run writes a reference that compare takes") {
  const TempDir dir;
  const std::string file = dir / "out.safetensors";
  const Ended ended = hfvalidate({"run", kModel, "-o", file, "--layers", "--sequence", "9", "--seed", "3"});
  CHECK(ended.code == 0);
  CHECK(ended.out.find("last_hidden_state") != std::string::npos);
  CHECK(ended.out.find("[2, 9, 36]") != std::string::npos);
  const nlohmann::json report =
      json_of({"compare", kModel, "--against", file, "--layers", "--tolerance", "0"});
  CHECK(report["passed"] == true);
  CHECK(report["layers"].size() == 4);
}

TEST_CASE("run takes a reference's inputs, or tensors named as the inputs") {
  const TempDir dir;
  const nlohmann::json recorded = json_of({"run", kModel, "--inputs", kReference});
  CHECK(recorded["outputs"][0]["shape"] == std::vector<int>{2, 11, 36});
  const Tensor ids = tensor(DType::i32, {1, 4}, {5, 6, 7, 8});
  safetensors::write(dir / "ids.safetensors", {{"input_ids", ids.view()}});
  CHECK(json_of({"run", kModel, "--inputs", dir / "ids.safetensors"})["outputs"][0]["shape"] ==
        std::vector<int>{1, 4, 36});
}

TEST_CASE("devices tells what there is, and why not") {
  const nlohmann::json devices = json_of({"devices"});
  REQUIRE(devices.size() == 2);
  CHECK(devices[0]["name"] == "cpu");
  CHECK(devices[0]["available"] == true);
  CHECK(devices[1]["name"] == "cuda");
  if (devices[1]["available"] == false)
    CHECK(devices[1]["reason"].get<std::string>().find("cuda") != std::string::npos);
  CHECK(hfvalidate({"devices"}).out.starts_with("DEVICE"));
}

TEST_CASE("help and version go to standard output") {
  CHECK(hfvalidate({"--version"}).out.starts_with("hfvalidate "));
  for (const char* command : {"compare", "run", "devices"}) {
    const Ended ended = hfvalidate({command, "--help"});
    CHECK(ended.code == 0);
    CHECK(ended.out.find("Examples:") != std::string::npos);
  }
}
