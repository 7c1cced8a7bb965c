#include "converters/convert.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "tools/hfconvert/commands.h"
#include "tools/program/program.h"
#include "tools/program/resolve_model.h"

namespace hf {
namespace {

constexpr std::size_t kListed = 10;

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

}  // namespace

int run_convert(const ConvertCommand& command) {
  const Format& format = format_named(command.format);
  const std::filesystem::path source = resolve_model(command.model, command.revision);
  if (!std::filesystem::is_directory(source))
    throw Error(ErrorKind::usage, escaped(source.string(), 4096) +
                                      ": is a file, a model's folder with its config.json is expected");
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

}  // namespace hf
