// Every fixture loads: nothing missing, nothing left over, and the graph has the
// names and sizes of the reference's inputs and outputs. Their values are the runtime's tests.
#include <doctest/doctest.h>

#include <set>

#include "arch/rows.h"
#include "base/file.h"
#include "checkpoint/safetensors/safetensors.h"

namespace hf::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> fixtures() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(HF_SOURCE_DIR) / "tests/data/fixtures"))
    if (entry.is_directory()) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

Config case_of(const fs::path& folder) {
  return Config::parse(read_text(folder / "case.json"), (folder / "case.json").string());
}

// Names in the reference that begin with `kind`, without it; what generation adds is another test's.
std::map<std::string, Sizes> referenced(const Checkpoint& reference, std::string_view kind) {
  std::map<std::string, Sizes> out;
  for (const std::string& name : reference.names())
    if (name.starts_with(kind) && name.find("generated") == std::string::npos)
      out[name.substr(kind.size())] = reference.info(name).shape;
  return out;
}

}  // namespace

TEST_CASE("every fixture loads, nothing missing and nothing left over") {
  std::set<std::string> heads;
  for (const fs::path& folder : fixtures()) {
    const Config config = Config::load(folder);
    CAPTURE(folder.filename().string());
    const Model model = load_model(folder, {{}, true});
    CHECK(model.class_name == config.texts("architectures")[0]);
    CHECK(unexpected_names(model).empty());
    const Config described = case_of(folder);
    if (described.has("task")) CHECK(model.task == described.text("task", ""));
    heads.insert(model.class_name);
  }
  // One fixture at least for every head of every row.
  for_each_row_and_head([&](const Architecture& row, std::string_view head) {
    CHECK(heads.contains(std::string(row.class_prefix) + std::string(head)));
  });
}

TEST_CASE("every fixture's graph has the inputs, outputs and sizes of its reference") {
  for (const fs::path& folder : fixtures()) {
    CAPTURE(folder.filename().string());
    const Model model = load_model(folder, {{}, true});
    const Graph& graph = model.parts[0].graph;
    const auto reference =
        safetensors::open(folder / case_of(folder).text("reference", "reference.safetensors"));

    std::map<std::string, Sizes> inputs = referenced(*reference, "inputs.");
    std::vector<Sizes> sizes;  // what the reference left to the class's defaults is as large as the ids
    for (const Value v : graph.inputs)
      sizes.push_back(inputs.try_emplace(graph.input_name(v), inputs.at("input_ids")).first->second);
    const Graph bound = bind_symbols(graph, match_inputs(graph, sizes));

    std::map<std::string, Sizes> got;
    for (const Named& n : bound.outputs) got[n.name] = to_sizes(bound.shape(n.value));
    for (const Named& n : bound.observed) got[n.name] = to_sizes(bound.shape(n.value));
    CHECK(got == referenced(*reference, "outputs."));
  }
}

}  // namespace hf::test
