// A model that is written and read back is the same model: it has the same inputs and outputs, and computes
// what transformers computed.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "converters/onnx/onnx.h"
#include "runtime/compare/reference.h"
#include "runtime/compare/report.h"
#include "runtime/session/session.h"
#include "support/temp_dir.h"

using namespace hf;
using hf::test::TempDir;

namespace {

// Where case.json says that the reference is; storages of one model share one.
std::filesystem::path reference_of(const std::filesystem::path& folder) {
  const nlohmann::json facts = nlohmann::json::parse(read_text(folder / "case.json"));
  return folder / facts.value("reference", "reference.safetensors");
}

runtime::Report compared(const Model& model, const std::filesystem::path& reference_file) {
  const runtime::Reference reference = runtime::read_reference(reference_file);
  const auto device = runtime::open_device("cpu", {.threads = 2, .cap_bytes = 0});
  runtime::Session session(model.parts[0].graph, model.checkpoint, *device,
                           {.observe = true, .communicator = nullptr});
  return runtime::compare(session.step(reference.inputs), {reference.outputs, reference.noise, {}});
}

std::string interface_of(const Graph& graph) {
  std::string out;
  for (const Value v : graph.inputs)
    out += graph.input_name(v) + " " + std::string(name_of(graph.type(v).dtype)) + " " +
           to_string(graph.shape(v)) + "\n";
  for (const auto* list : {&graph.outputs, &graph.observed})
    for (const Named& n : *list)
      out += n.name + " " + std::string(name_of(graph.type(n.value).dtype)) + " " +
             to_string(graph.shape(n.value)) + "\n";
  return out;
}

std::set<std::filesystem::path> fixtures() {
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(HF_FIXTURES))
    if (std::filesystem::exists(entry.path() / "config.json")) folders.insert(entry.path());
  return folders;
}

}  // namespace

TEST_CASE("each fixture, written and read back, computes what transformers did") {
  REQUIRE(!fixtures().empty());
  for (const std::filesystem::path& folder : fixtures()) {
    const std::string name = folder.filename().string();
    CAPTURE(name);
    const Model model = load_model(folder, {.task = "", .all_outputs = true});
    const TempDir out;
    // Every other one with its weights beside the graph.
    onnx::write(model, out.path(), {.inline_limit_bytes = name.size() % 2 == 0 ? 0u : 1u << 20});
    const Model read = onnx::read(out.path());
    CHECK(interface_of(read.parts[0].graph) == interface_of(model.parts[0].graph));
    CHECK(read.task == model.task);
    CHECK(read.class_name == model.class_name);
    const runtime::Report report = compared(read, reference_of(folder));
    for (const auto* list : {&report.outputs, &report.layers})
      for (const runtime::Comparison& c : *list)
        CHECK_MESSAGE(c.passed(), name << ": " << c.name << " " << c.problem);
    CHECK(report.layers.size() > 2);
  }
}

TEST_CASE("what was read can be written and read again") {
  const std::filesystem::path folder = std::filesystem::path(HF_FIXTURES) / "bert-mlm";
  const TempDir first, second;
  onnx::write(load_model(folder), first.path());
  const Model once = onnx::read(first.path());
  onnx::write(once, second.path());
  const Model twice = onnx::read(second.path());
  CHECK(interface_of(once.parts[0].graph) == interface_of(twice.parts[0].graph));
  CHECK(once.parts[0].graph.nodes.size() == twice.parts[0].graph.nodes.size());
  for (const runtime::Comparison& c : compared(twice, reference_of(folder)).outputs) CHECK(c.passed());
}
