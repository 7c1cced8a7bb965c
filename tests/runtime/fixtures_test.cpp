// Each fixture through its architecture's graph, on the CPU, against what transformers computed.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/arch.h"
#include "base/file.h"
#include "runtime/compare/reference.h"
#include "runtime/compare/report.h"
#include "runtime/session/session.h"

using namespace hf;
using namespace hf::runtime;

namespace {

// Where case.json says that the reference is; storages of one model share one.
std::filesystem::path reference_of(const std::filesystem::path& folder) {
  const nlohmann::json facts = nlohmann::json::parse(read_text(folder / "case.json"));
  return folder / facts.value("reference", "reference.safetensors");
}

Report compared(const std::filesystem::path& folder) {
  const Model model = load_model(folder, {.task = "", .all_outputs = true});
  const Reference reference = read_reference(reference_of(folder));
  const auto device = open_device("cpu", {.threads = 2, .cap_bytes = 0});
  Session session(model.parts[0].graph, model.checkpoint, *device,
                  {.observe = true, .communicator = nullptr});
  return compare(session.step(reference.inputs), {reference.outputs, reference.noise, {}});
}

}  // namespace

TEST_CASE("each fixture's outputs and hidden states are what transformers computed") {
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(HF_FIXTURES))
    if (std::filesystem::exists(entry.path() / "config.json")) folders.insert(entry.path());
  std::size_t count = 0;
  for (const std::filesystem::path& folder : folders) {
    const std::string name = folder.filename().string();
    CAPTURE(name);
    const Report report = compared(folder);
    for (const Comparison& c : report.outputs)
      CHECK_MESSAGE(c.passed(), name << ": " << c.name << " " << c.problem);
    for (const Comparison& c : report.layers)
      CHECK_MESSAGE(c.passed(), name << ": " << c.name << " " << c.problem);
    CHECK(report.layers.size() > 2);
    ++count;
  }
  CHECK(count > 0);
}
