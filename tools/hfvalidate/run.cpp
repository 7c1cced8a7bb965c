#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "checkpoint/safetensors/safetensors.h"
#include "runtime/compare/made_inputs.h"
#include "tools/hfvalidate/commands.h"
#include "tools/hfvalidate/model_source.h"
#include "tools/hfvalidate/print.h"
#include "tools/program/program.h"

namespace hf::runtime {
namespace {

struct RunOptions : ModelOptions {
  std::optional<std::filesystem::path> inputs, output;
};

constexpr std::string_view kInputs = "inputs.", kOutputs = "outputs.";

// A reference's inputs.NAME, or tensors that are called as the inputs are; outputs are passed over.
Inputs read_inputs(const Checkpoint& file) {
  Inputs out;
  for (const std::string& name : file.names()) {
    if (name.starts_with(kOutputs)) continue;
    out.emplace(name.substr(name.starts_with(kInputs) ? kInputs.size() : 0), file.view(name));
  }
  return out;
}

struct Range {
  double least = std::numeric_limits<double>::infinity(), greatest = -least, mean = 0;
  std::int64_t not_finite = 0;
};

Range range_of(const Tensor& tensor) {
  Range range;
  const Tensor values = converted(tensor.view(), DType::f64);
  std::int64_t count = 0;
  for (const double x : values.as<double>()) {
    if (!std::isfinite(x)) {
      ++range.not_finite;
      continue;
    }
    range.least = std::min(range.least, x);
    range.greatest = std::max(range.greatest, x);
    range.mean += x;
    ++count;
  }
  if (count > 0)
    range.mean /= static_cast<double>(count);
  else
    range.least = range.greatest = 0;
  return range;
}

void print_results(const Results& results, const MemoryReport& memory) {
  constexpr auto kRight = Column::Align::right;
  std::vector<std::vector<std::string>> rows;
  for (const auto* list : {&results.observed, &results.outputs}) {
    for (const NamedTensor& value : *list) {
      const Range range = range_of(value.tensor);
      rows.push_back({value.name, std::string(name_of(value.tensor.dtype())), to_string(value.tensor.shape()),
                      shown(range.least), shown(range.greatest), shown(range.mean),
                      std::to_string(range.not_finite)});
    }
  }
  print_out(format_table({{"OUTPUT"},
                          {"TYPE"},
                          {"SHAPE"},
                          {"MIN", kRight},
                          {"MAX", kRight},
                          {"MEAN", kRight},
                          {"NOT FINITE", kRight}},
                         rows) +
            "\n" + memory_lines(memory));
}

nlohmann::json described(const Results& results) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto* list : {&results.observed, &results.outputs}) {
    for (const NamedTensor& value : *list) {
      const Range range = range_of(value.tensor);
      out.push_back({{"name", value.name},
                     {"dtype", name_of(value.tensor.dtype())},
                     {"shape", value.tensor.shape()},
                     {"min", range.least},
                     {"max", range.greatest},
                     {"mean", range.mean},
                     {"not_finite", range.not_finite}});
    }
  }
  return out;
}

// As a reference, which `compare --against` takes.
void write_results(const std::filesystem::path& file, const Inputs& inputs, const Results& results) {
  std::vector<std::pair<std::string, TensorView>> tensors;
  for (const auto& [name, value] : inputs) tensors.emplace_back(std::string(kInputs) + name, value);
  for (const auto* list : {&results.outputs, &results.observed})
    for (const NamedTensor& value : *list)
      tensors.emplace_back(std::string(kOutputs) + value.name, value.tensor.view());
  safetensors::write(file, tensors);
}

int run_run(const RunOptions& options) {
  const ModelSource source = open_model(options.model, options);
  std::shared_ptr<const Checkpoint> file;
  NamedTensors made;
  Inputs inputs;
  if (options.inputs) {
    file = safetensors::open(*options.inputs);
    inputs = read_inputs(*file);
  } else {
    const Graph* graphs[] = {&source.graph()};
    made = make_inputs(graphs, {options.seed, options.batch, options.sequence});
    for (const NamedTensor& input : made) inputs.emplace(input.name, input.tensor.view());
  }
  const auto device = open_device(options.device, {.threads = options.threads, .cap_bytes = 0});
  Session session(source.graph(), source.model.checkpoint, *device,
                  {.observe = options.layers, .communicator = nullptr});
  const Results results = options.inputs ? step_with(session, inputs, *options.inputs) : session.step(inputs);
  if (options.output) write_results(behind_link(*options.output), inputs, results);
  if (options.json)
    print_json({{"model", options.model},
                {"device", options.device},
                {"outputs", described(results)},
                {"memory", memory_json(session.memory())}});
  else if (!options.quiet)
    print_results(results, session.memory());
  return 0;
}

}  // namespace

Command run_command() {
  const auto o = std::make_shared<RunOptions>();
  return {
      .name = "run",
      .about = "Run a model once",
      .detail =
          "Inputs are a reference's, a file of tensors named as the inputs, or made from --seed. The "
          "file that -o writes is a reference in its turn: inputs.NAME and outputs.NAME.",
      .examples = {"hfvalidate run out/model.onnx",
                   "hfvalidate run out --inputs reference.safetensors -o outputs.safetensors",
                   "hfvalidate run openai-community/gpt2 --batch 1 --sequence 64 --threads 4 --json"},
      .exits = exits_of({0, 2, 3, 6, 7, 8, 9, 130}),
      .arguments = joined({model_rows(*o),
                           {option("--inputs", "FILE", o->inputs, "File of tensors NAME or inputs.NAME")
                                .completed_as(Completes::file),
                            option("-o,--output", "FILE", o->output, "Write inputs and outputs to this file")
                                .completed_as(Completes::file),
                            flag("--layers", o->layers, "Also the hidden states between the layers"),
                            flag("-q,--quiet", o->quiet, "Print nothing")}}),
      .run = [o] { return run_run(*o); }};
}

}  // namespace hf::runtime
