#include "converters/convert.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "tools/hfconvert/commands.h"
#include "tools/program/program.h"
#include "tools/program/resolve_model.h"

namespace hf {
namespace {

constexpr std::size_t kListed = 10;

struct ConvertCommand : ModelOptions {
  std::string format;
  std::optional<std::filesystem::path> output;
  bool overwrite = false;
};

// "./all-MiniLM-L6-v2-onnx" for sentence-transformers/all-MiniLM-L6-v2 and for a folder of that name.
std::filesystem::path default_output(const std::string& model, const Format& format) {
  std::filesystem::path name = std::filesystem::path(model).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::string last = name.filename().string();
  if (last.empty() || last == "." || last == "..")
    last = std::filesystem::canonical(name).filename().string();
  return std::filesystem::path(".") / (last + "-" + std::string(format.name));
}

void print_notes(const Conversion& done) {
  if (done.unexpected.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kListed, done.unexpected.size()); ++i)
    names += (i > 0 ? ", " : "") + in_quotes(done.unexpected[i]);
  if (done.unexpected.size() > kListed)
    names += " and " + std::to_string(done.unexpected.size() - kListed) + " more";
  std::fprintf(stderr, "%zu tensors are not used by %s: %s\n", done.unexpected.size(),
               done.class_name.c_str(), names.c_str());
}

nlohmann::ordered_json described(const Conversion& done, const std::filesystem::path& output,
                                 const Format& format) {
  return {{"path", output.string()}, {"format", format.name}, {"class", done.class_name},
          {"task", done.task},       {"files", done.files},   {"unexpected", done.unexpected}};
}

int run_convert(const ConvertCommand& command) {
  const Format& format = format_named(command.format);
  const std::filesystem::path source = resolve_model(command.model, command.revision);
  if (!std::filesystem::is_directory(source))
    throw Error(ErrorKind::usage,
                shown(source) + ": is a file, a model's folder with its config.json is expected");
  const std::filesystem::path output = command.output.value_or(default_output(command.model, format));
  ConvertOptions options;
  options.load = {command.task, command.all_outputs};
  options.overwrite = command.overwrite;
  options.version = std::string(program_version());
  options.progress = &terminal_progress(command.quiet);
  const Conversion done = convert(source, format, output, options);
  if (!command.quiet) print_notes(done);
  if (command.json)
    print_json(described(done, output, format));
  else
    print_out(output.string() + "\n");
  return 0;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  return names;
}

}  // namespace

Command convert_command() {
  const auto o = std::make_shared<ConvertCommand>();
  return {.name = "hfconvert",
          .about = "Convert models of the Hugging Face kind",
          .detail =
              "MODEL is a repository that is in the cache (namespace/name; no network is used) or a folder "
              "with its config.json and weights. Prints the folder that was written. Files of the tokenizer "
              "and the like are carried along unchanged.",
          .examples = {"hfconvert sentence-transformers/all-MiniLM-L6-v2 --to onnx",
                       "hfconvert ./my-bert --to onnx -o ./my-bert-onnx --task fill-mask",
                       "hfconvert inspect ./my-bert", "hfconvert inspect ./my-bert-onnx/model.onnx --graph"},
          .exits = exits_of({0, 2, 3, 6, 7, 8, 130}),
          .arguments = joined(
              {model_rows(*o),
               {option("--to", "FORMAT", o->format, "Format; `hfconvert formats` tells more")
                    .of(format_names())
                    .must(),
                option("-o,--output", "DIR", o->output, "Folder to write, instead of ./<name>-<format>")
                    .completed_as(Completes::folder),
                flag("--overwrite", o->overwrite, "Write into a folder that is not empty")},
               common_rows(*o)}),
          .run = [o] { return run_convert(*o); }};
}

}  // namespace hf
