#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
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

struct CompareOptions : ModelOptions {
  std::string against;  // a reference file or a model; empty: reference.safetensors beside the model
  std::optional<double> tolerance;
};

// What both sides are given, and what the model should make of it. Holds what the views look into.
struct Task {
  Inputs inputs;
  Expected expected;
  Reference reference;
  std::size_t layers_left_aside = 0;  // of the reference
  NamedTensors made;
  Results other;
};

struct Run {
  Results results;
  MemoryReport memory;
};

// `file`: where the inputs were recorded; null where they were made.
Run run(const ModelSource& source, const Inputs& inputs, const ModelOptions& options,
        const fs::path* file = nullptr) {
  const auto device = open_device(options.device, {.threads = options.threads, .cap_bytes = 0});
  Session session(source.graph(), source.model.checkpoint, *device,
                  {.observe = options.layers, .communicator = nullptr});
  Results results = file != nullptr ? step_with(session, inputs, *file) : session.step(inputs);
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

// Values inside the model are left aside unless they were asked for or the model gives them as outputs.
bool is_layer(std::string_view name) { return name.find("hidden_states.") != std::string_view::npos; }

bool gives(const Graph& graph, std::string_view name) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const auto& output) { return output.name == name; });
}

Task against_file(const Graph& graph, const fs::path& file, const CompareOptions& options) {
  Task task;
  task.reference = read_reference(file);
  task.inputs = task.reference.inputs;
  task.expected.noise = task.reference.noise;
  for (const auto& [name, value] : task.reference.outputs)
    if (options.layers || !is_layer(name) || gives(graph, name))
      task.expected.values.emplace(name, value);
    else
      ++task.layers_left_aside;
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
  Task task = fs::path(options.against).extension() == ".safetensors"
                  ? against_file(source.graph(), options.against, options)
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

void print_report(const Report& report, const Task& task, const MemoryReport& memory,
                  const CompareOptions& options) {
  print_out(std::string(report.passed() ? "same" : "DIFFERENT") + ": " + escaped(options.model) + " on " +
            options.device + " against " + escaped(options.against) + "\n");
  if (const Comparison* first = report.first_divergence())
    print_out("first divergence: " + escaped(first->name) + " " + first->problem + "\n");
  if (options.quiet) return;
  print_values("LAYER", report.layers);
  print_values("OUTPUT", report.outputs);
  print_out("\n");
  if (options.layers && report.layers.empty()) print_out("no layer is named in both\n");
  if (task.layers_left_aside > 0)
    print_out(std::to_string(task.layers_left_aside) +
              " hidden states are in the reference, --layers compares them too\n");
  print_names("only in the reference", report.only_reference);
  print_names("only in the model", report.only_model);
  print_out(memory_lines(memory));
}

int run_compare(const CompareOptions& asked) {
  CompareOptions options = asked;
  if (options.tolerance && *options.tolerance < 0)
    throw Error(ErrorKind::usage, "--tolerance: is negative, a number from 0 on is expected");
  const ModelSource source = open_model(options.model, options);
  const Task task = task_for(source, options);
  const fs::path file = task.reference.subject;
  const Run mine = run(source, task.inputs, options, file.empty() ? nullptr : &file);
  const Report report = compare(mine.results, task.expected);
  if (options.json) {
    nlohmann::json out = to_json(report);
    out["model"] = options.model;
    out["against"] = options.against;
    out["device"] = options.device;
    out["layers_left_aside"] = task.layers_left_aside;
    out["memory"] = memory_json(mine.memory);
    print_json(out);
  } else {
    print_report(report, task, mine.memory, options);
  }
  return report.passed() ? 0 : 1;
}

}  // namespace

Command compare_command() {
  const auto o = std::make_shared<CompareOptions>();
  Argument against = option("--against", "REF", o->against, "Reference file or model");
  against.take = [o](const std::string& text) { return !(o->against = text).empty(); };
  against.expected = "a name";
  Argument tolerance = option("--tolerance", "T", o->tolerance, "Greatest absolute difference");
  tolerance.expected = "a number";
  return {
      .name = "compare",
      .about = "Hold a model against a reference",
      .detail =
          "REF is a file of tensors inputs.NAME and outputs.NAME (tools/dev/capture_reference.py makes "
          "one from transformers), or another MODEL: then both run on inputs made from --seed.\n\nA value "
          "a is right for a reference r where |a - r| <= max(1e-5, 3 x the reference's recorded noise, "
          "1e-6 |r|) in fp32; --tolerance T replaces that by |a - r| <= T. NaN is never right.",
      .examples = {"hfvalidate compare out/model.onnx --against reference.safetensors",
                   "hfvalidate compare ./my-bert --layers        (its own reference.safetensors)",
                   "hfvalidate compare out --against ./my-bert --seed 7 --batch 4 --sequence 128 --json"},
      .exits = exits_of({0, 1, 2, 3, 6, 7, 8, 9, 130}, {{0, "Same"}, {1, "Different"}}),
      .arguments = joined(
          {model_rows(*o),
           {against.completed_as(Completes::model).shown_default("reference.safetensors beside MODEL"),
            tolerance, flag("--layers", o->layers, "Compare also the hidden states between the layers"),
            flag("-q,--quiet", o->quiet, "Only the verdict and where the two part")}}),
      .run = [o] { return run_compare(*o); }};
}

}  // namespace hf::runtime
