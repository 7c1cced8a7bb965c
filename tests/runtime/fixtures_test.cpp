// Each fixture on the CPU against what transformers computed: by its architecture's graph, and by a written
// file.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/arch.h"
#include "base/file.h"
#include "converters/onnx/onnx.h"
#include "runtime/compare/reference.h"
#include "runtime/compare/report.h"
#include "runtime/session/session.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::runtime;

namespace {

// Where case.json says that the reference is; storages of one model share one.
std::filesystem::path reference_of(const std::filesystem::path& folder) {
  const nlohmann::json facts = nlohmann::json::parse(read_text(folder / "case.json"));
  return folder / facts.value("reference", "reference.safetensors");
}

Report compared(const Model& model, const std::filesystem::path& folder) {
  const Reference reference = read_reference(reference_of(folder));
  const auto device = open_device("cpu", {.threads = 2, .cap_bytes = 0});
  Session session(model.parts.at(0).graph, model.checkpoint, *device,
                  {.observe = true, .communicator = nullptr});
  return compare(session.step(reference.inputs), {reference.outputs, reference.noise, {}});
}

void check_passed(const Report& report) {
  for (const Comparison& c : report.outputs) CHECK_MESSAGE(c.passed(), c.name << " " << c.problem);
  for (const Comparison& c : report.layers) CHECK_MESSAGE(c.passed(), c.name << " " << c.problem);
  CHECK(report.layers.size() > 2);
  for (const std::string& name : report.only_reference) CHECK_MESSAGE(name.starts_with("generated"), name);
}

template <class F>
void for_each_fixture(F&& f) {
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(HF_FIXTURES))
    if (std::filesystem::exists(entry.path() / "config.json")) folders.insert(entry.path());
  REQUIRE_FALSE(folders.empty());
  for (const std::filesystem::path& folder : folders) {
    const std::string name = folder.filename().string();
    CAPTURE(name);
    f(folder);
  }
}

}  // namespace

TEST_CASE("each fixture's outputs and hidden states are what transformers computed") {
  for_each_fixture([](const std::filesystem::path& folder) {
    check_passed(compared(load_model(folder, {.task = "", .all_outputs = true}), folder));
  });
}

TEST_CASE("each fixture written as ONNX and read back is what transformers computed") {
  for_each_fixture([](const std::filesystem::path& folder) {
    const test::TempDir dir;
    onnx::write(load_model(folder, {.task = "", .all_outputs = true}), dir.path());
    check_passed(compared(onnx::read(dir.path()), folder));
  });
}
