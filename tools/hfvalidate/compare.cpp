#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "runtime/compare/made_inputs.h"
#include "runtime/compare/reference.h"
#include "runtime/compare/report.h"
#include "runtime/session/inputs.h"
#include "tools/hfvalidate/commands.h"
#include "tools/hfvalidate/model_source.h"
#include "tools/hfvalidate/print.h"
#include "tools/program/program.h"

namespace hf::runtime {
namespace {

namespace fs = std::filesystem;

// What both sides are given, and what the model should make of it. Holds what the views look into.
struct Task {
  Inputs inputs;
  Expected expected;
  Reference reference;
  NamedTensors made;
  Results other;
};

struct Run {
  Results results;
  MemoryReport memory;
};

Run run(const ModelSource& source, const Inputs& inputs, const ModelOptions& options) {
  const auto device = open_device(options.device, {.threads = options.threads, .cap_bytes = 0});
  Session session(source.graph(), source.model.checkpoint, *device,
                  {.observe = options.layers, .communicator = nullptr});
  Results results = session.step(inputs);
  return {std::move(results), session.memory()};
}

bool takes(const Graph& graph, std::string_view name) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](Value v) { return graph.input_name(v) == name; });
}

// What one model lacks both do without, where a session knows what it then stands for.
Inputs inputs_of(const Graph& graph, const Graph& other, const NamedTensors& made) {
  Inputs out;
  for (const NamedTensor& input : made)
    if (takes(graph, input.name) && (takes(other, input.name) || !is_filled(input.name)))
      out.emplace(input.name, input.tensor.view());
  return out;
}

Task against_model(const ModelSource& source, const CompareOptions& options) {
  const ModelSource other = open_model(options.against, options);
  Task task;
  const Graph* graphs[] = {&source.graph(), &other.graph()};
  task.made = make_inputs(graphs, {options.seed, options.batch, options.sequence});
  task.inputs = inputs_of(source.graph(), other.graph(), task.made);
  task.other = run(other, inputs_of(other.graph(), source.graph(), task.made), options).results;
  for (const auto* list : {&task.other.outputs, &task.other.observed})
    for (const NamedTensor& value : *list) task.expected.values.emplace(value.name, value.tensor.view());
  return task;
}

// Values inside the model are left aside unless they were asked for.
bool is_layer(std::string_view name) { return name.find("hidden_states.") != std::string_view::npos; }

Task against_file(const fs::path& file, const CompareOptions& options) {
  Task task;
  task.reference = read_reference(file);
  task.inputs = task.reference.inputs;
  task.expected.noise = task.reference.noise;
  for (const auto& [name, value] : task.reference.outputs)
    if (options.layers || !is_layer(name)) task.expected.values.emplace(name, value);
  return task;
}

Task task_for(const ModelSource& source, CompareOptions& options) {
  if (options.against.empty()) {
    const fs::path beside = source.folder / "reference.safetensors";
    if (!fs::exists(beside))
      throw Error(ErrorKind::usage, "--against: is needed, " + in_quotes(source.folder.string()) +
                                        " has no reference.safetensors");
    options.against = beside.string();
  }
  Task task = fs::path(options.against).extension() == ".safetensors" ? against_file(options.against, options)
                                                                      : against_model(source, options);
  task.expected.tolerance = options.tolerance;
  return task;
}

std::vector<std::string> row_of(const Comparison& c) {
  const Metrics& m = c.metrics;
  const std::string tolerance = shown(c.tolerance.absolute);
  const std::string verdict = c.passed() ? "ok" : "DIFFERS";
  if (m.elements == 0) return {c.name, to_string(c.shape), "-", "-", "-", "-", "-", "-", tolerance, verdict};
  char cosine[32], agreement[32] = "-";
  std::snprintf(cosine, sizeof cosine, "%.9f", m.cosine);
  if (m.argmax_agreement) std::snprintf(agreement, sizeof agreement, "%.2f%%", *m.argmax_agreement * 100);
  return {c.name,
          to_string(c.shape),
          shown(m.max_absolute),
          shown(m.mean_absolute),
          shown(m.max_relative),
          shown(m.mean_relative),
          cosine,
          agreement,
          tolerance,
          verdict};
}

void print_values(const char* title, const std::vector<Comparison>& values) {
  if (values.empty()) return;
  constexpr auto kRight = Column::Align::right;
  std::vector<std::vector<std::string>> rows;
  for (const Comparison& c : values) rows.push_back(row_of(c));
  print_out("\n" + format_table({{title},
                                 {"SHAPE"},
                                 {"MAX ABS", kRight},
                                 {"MEAN ABS", kRight},
                                 {"MAX REL", kRight},
                                 {"MEAN REL", kRight},
                                 {"COSINE", kRight},
                                 {"ARGMAX", kRight},
                                 {"TOLERANCE", kRight},
                                 {"VERDICT"}},
                                rows));
}

void print_names(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string line = std::string("not compared, ") + what + ": ";
  for (std::size_t i = 0; i < names.size(); ++i) line += (i > 0 ? ", " : "") + escaped(names[i]);
  print_out(line + "\n");
}

void print_report(const Report& report, const MemoryReport& memory, const CompareOptions& options) {
  print_out(std::string(report.passed() ? "same" : "DIFFERENT") + ": " + escaped(options.model) + " on " +
            options.device + " against " + escaped(options.against) + "\n");
  if (const Comparison* first = report.first_divergence())
    print_out("first divergence: " + escaped(first->name) + " " + first->problem + "\n");
  if (options.quiet) return;
  print_values("LAYER", report.layers);
  print_values("OUTPUT", report.outputs);
  print_out("\n");
  if (options.layers && report.layers.empty()) print_out("no layer is named in both\n");
  print_names("only in the reference", report.only_reference);
  print_names("only in the model", report.only_model);
  print_out(memory_lines(memory));
}

}  // namespace

int run_compare(const CompareOptions& asked) {
  CompareOptions options = asked;
  if (options.tolerance && !std::isfinite(*options.tolerance))
    throw Error(ErrorKind::usage, "--tolerance: is not finite, a number is expected");
  const ModelSource source = open_model(options.model, options);
  const Task task = task_for(source, options);
  const Run mine = run(source, task.inputs, options);
  const Report report = compare(mine.results, task.expected);
  if (options.json) {
    nlohmann::json out = to_json(report);
    out["model"] = options.model;
    out["against"] = options.against;
    out["device"] = options.device;
    out["memory"] = memory_json(mine.memory);
    print_json(out);
  } else {
    print_report(report, mine.memory, options);
  }
  return report.passed() ? 0 : 1;
}

}  // namespace hf::runtime
