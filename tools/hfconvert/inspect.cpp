#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/escape.h"
#include "converters/onnx/onnx.h"
#include "tools/hfconvert/commands.h"
#include "tools/program/program.h"
#include "tools/program/resolve_model.h"

namespace hf {
namespace {

struct InspectCommand : ModelOptions {
  bool tensors = false, graph = false;
};

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// What can be said of a model, however much of one there is.
struct Inspection {
  fs::path path;
  std::string model_type, class_name, task;
  std::string problem;  // why there is no graph
  std::shared_ptr<const Checkpoint> checkpoint;
  std::vector<Part> parts;
  std::vector<std::pair<std::string, std::uint64_t>> files;  // name, bytes
};

struct Totals {
  std::uint64_t tensors = 0, parameters = 0, bytes = 0;
  std::map<std::string, std::uint64_t> bytes_by_dtype;
};

std::vector<std::pair<std::string, std::uint64_t>> list_files(const fs::path& path) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  if (fs::is_regular_file(path)) return {{path.filename().string(), fs::file_size(path)}};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file())
      out.emplace_back(fs::relative(entry.path(), path).string(), entry.file_size());
  std::sort(out.begin(), out.end());
  return out;
}

void take(Inspection& i, Model model) {
  i.model_type = model.model_type;
  i.class_name = model.class_name;
  i.task = model.task;
  i.checkpoint = std::move(model.checkpoint);
  i.parts = std::move(model.parts);
}

void inspect_folder(Inspection& i, const InspectCommand& command) {
  const Config config = Config::load(i.path);
  i.model_type = config.text("model_type", "");
  const std::vector<std::string> classes = config.texts("architectures");
  if (!classes.empty()) i.class_name = classes[0];
  try {
    take(i, load_model(i.path, {command.task, command.all_outputs}));
    return;
  } catch (const Error& error) {
    if (command.graph) throw;  // that was the question
    i.problem = error.what();
  }
  try {
    i.checkpoint = open_folder(i.path);
  } catch (const Error& error) {
    i.problem = error.what();
  }
}

bool has_onnx_only(const fs::path& folder) {
  return fs::exists(folder / "model.onnx") && !fs::exists(folder / "model.safetensors") &&
         !fs::exists(folder / "model.safetensors.index.json");
}

Inspection inspect(const InspectCommand& command) {
  Inspection i;
  i.path = resolve_model(command.model, command.revision);
  i.files = list_files(i.path);
  if (i.path.extension() == ".onnx" || has_onnx_only(i.path))
    take(i, onnx::read(i.path));
  else if (fs::is_directory(i.path))
    inspect_folder(i, command);
  else
    i.checkpoint = open_file(i.path);
  if (command.graph && i.parts.empty())
    throw Error(ErrorKind::usage, shown(i.path) + ": weights alone have no graph");
  return i;
}

Totals totals_of(const Checkpoint& checkpoint) {
  Totals t;
  for (const std::string& name : checkpoint.names()) {
    const TensorInfo info = checkpoint.info(name);
    const auto count = static_cast<std::uint64_t>(elements(info.shape));
    const std::uint64_t bytes = count * size_of(info.dtype);
    ++t.tensors;
    t.parameters += count;
    t.bytes += bytes;
    t.bytes_by_dtype[std::string(name_of(info.dtype))] += bytes;
  }
  return t;
}

ordered_json described(const Inspection& i, const InspectCommand& command) {
  ordered_json out{{"path", i.path.string()},
                   {"model_type", i.model_type},
                   {"class", i.class_name},
                   {"task", i.task},
                   {"supported", !i.parts.empty()}};
  if (!i.problem.empty()) out["problem"] = i.problem;
  if (i.checkpoint) {
    const Totals t = totals_of(*i.checkpoint);
    out["tensors"] = t.tensors;
    out["parameters"] = t.parameters;
    out["bytes"] = t.bytes;
    out["bytes_by_dtype"] = t.bytes_by_dtype;
  }
  out["files"] = ordered_json::array();
  for (const auto& [name, bytes] : i.files) out["files"].push_back({{"file", name}, {"bytes", bytes}});
  for (const Part& part : i.parts) {
    ordered_json interface {
      {"part", part.name}, { "nodes", part.graph.nodes.size() }
    };
    for (const Value v : part.graph.inputs)
      interface["inputs"].push_back({{"name", part.graph.input_name(v)},
                                     {"dtype", name_of(part.graph.type(v).dtype)},
                                     {"shape", to_string(part.graph.shape(v))}});
    for (const Named& n : part.graph.outputs)
      interface["outputs"].push_back({{"name", n.name},
                                      {"dtype", name_of(part.graph.type(n.value).dtype)},
                                      {"shape", to_string(part.graph.shape(n.value))}});
    if (command.graph) interface["graph"] = dump(part.graph);
    out["parts"].push_back(std::move(interface));
  }
  if (command.tensors && i.checkpoint)
    for (const std::string& name : i.checkpoint->names()) {
      const TensorInfo info = i.checkpoint->info(name);
      out["tensor_list"].push_back({{"name", name}, {"dtype", name_of(info.dtype)}, {"shape", info.shape}});
    }
  return out;
}

std::string field(const char* label, const std::string& value) {
  if (value.empty()) return {};
  std::string out = label;
  out.resize(12, ' ');
  return out + escaped(value, 4096) + "\n";
}

std::string summary(const Inspection& i) {
  std::string out = field("path", i.path.string()) + field("model type", i.model_type) +
                    field("class", i.class_name) + field("task", i.task) + field("problem", i.problem);
  for (const Part& part : i.parts) {
    for (const Value v : part.graph.inputs)
      out += field("input", part.graph.input_name(v) + " " + std::string(name_of(part.graph.type(v).dtype)) +
                                " " + to_string(part.graph.shape(v)));
    for (const Named& n : part.graph.outputs)
      out += field("output", n.name + " " + std::string(name_of(part.graph.type(n.value).dtype)) + " " +
                                 to_string(part.graph.shape(n.value)));
  }
  if (i.checkpoint) {
    const Totals t = totals_of(*i.checkpoint);
    std::string by_dtype;
    for (const auto& [dtype, bytes] : t.bytes_by_dtype)
      by_dtype += (by_dtype.empty() ? "" : ", ") + dtype + " " + human_size(bytes);
    out += field("tensors", std::to_string(t.tensors)) + field("parameters", std::to_string(t.parameters)) +
           field("bytes", by_dtype);
  }
  return out;
}

void print(const Inspection& i, const InspectCommand& command) {
  if (command.graph) {  // nothing else, so that it can be compared
    for (const Part& part : i.parts) print_out(dump(part.graph));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  if (command.tensors && i.checkpoint) {
    for (const std::string& name : i.checkpoint->names()) {
      const TensorInfo info = i.checkpoint->info(name);
      rows.push_back({name, std::string(name_of(info.dtype)), to_string(info.shape)});
    }
    print_out(format_table({{"TENSOR"}, {"DTYPE"}, {"SHAPE"}}, rows));
    return;
  }
  print_out(summary(i));
  for (const auto& [name, bytes] : i.files) rows.push_back({name, human_size(bytes)});
  print_out(format_table({{"FILE"}, {"SIZE", Column::Align::right}}, rows));
}

int run_inspect(const InspectCommand& command) {
  const Inspection i = inspect(command);
  if (command.json)
    print_json(described(i, command));
  else
    print(i, command);
  return 0;
}

}  // namespace

Command inspect_command() {
  const auto o = std::make_shared<InspectCommand>();
  return {
      .name = "inspect",
      .about = "Show what a model is and holds",
      .detail = "MODEL may also be a .safetensors or an .onnx file.",
      .examples = {"hfconvert inspect openai-community/gpt2", "hfconvert inspect model.safetensors --tensors",
                   "hfconvert inspect ./my-bert --graph", "hfconvert inspect ./my-bert-onnx --json"},
      .exits = exits_of({0, 2, 3, 6, 7, 8}),
      .arguments = joined({model_rows(*o),
                           {flag("--tensors", o->tensors, "List the tensors"),
                            flag("--graph", o->graph, "Print the graph, one line a node")},
                           common_rows(*o)}),
      .run = [o] { return run_inspect(*o); }};
}

}  // namespace hf
