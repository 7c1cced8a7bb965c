// hfconvert: the command line. Flags are bound to the options of commands.h and nothing else happens here.
#include <CLI/CLI.hpp>
#include <functional>

#include "base/error.h"
#include "tools/hfconvert/commands.h"
#include "tools/program/program.h"

namespace {

using namespace hf;

constexpr const char* kAbout =
    "Converts models of the Hugging Face kind. MODEL is a repository that is in the cache "
    "(organisation/name, no\n"
    "network is used) or a folder with its config.json and weights.";

constexpr const char* kExamples =
    "Prints the folder that was written. Files of the tokenizer and the like are carried along unchanged.\n\n"
    "Examples:\n"
    "  hfconvert sentence-transformers/all-MiniLM-L6-v2 --to onnx\n"
    "  hfconvert ./my-bert --to onnx -o ./my-bert-onnx --task fill-mask\n"
    "  hfconvert inspect ./my-bert\n"
    "  hfconvert inspect ./my-bert-onnx/model.onnx --graph\n\n"
    "Exit codes: 0 ok, 2 usage, 3 not found, 6 malformed files, 7 not supported, 8 local input or output,\n"
    "130 and 143 interrupted.";

constexpr const char* kInspectExamples =
    "MODEL may also be a .safetensors or an .onnx file.\n\n"
    "Examples:\n"
    "  hfconvert inspect openai-community/gpt2\n"
    "  hfconvert inspect model.safetensors --tensors\n"
    "  hfconvert inspect ./my-bert --graph\n"
    "  hfconvert inspect ./my-bert-onnx --json";

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", "hfconvert " + std::string(program_version()));
    app_.footer(kExamples);
    app_.require_subcommand(0, 1);
    add_convert();
    add_inspect();
    add_list("formats", "List the formats that can be written", formats_, run_formats);
    add_list("architectures", "List the classes that are supported, with their tasks", architectures_,
             run_architectures);
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? 0 : exit_code(ErrorKind::usage);
    }
    return command_();
  }

 private:
  template <class Options>
  static void add_model(CLI::App& command, Options& o) {
    command.add_option("MODEL", o.model, "Repository in the cache, folder or file")->type_name("");
    command.add_option("--revision", o.revision, "Branch, tag or commit of a repository")
        ->capture_default_str()
        ->type_name("R");
    command.add_option("--task", o.task, "Task of the graph, instead of the one of the model's class")
        ->type_name("T");
    command.add_flag("--all-outputs", o.all_outputs,
                     "Also outputs that are usually left out, such as pooler_output");
    add_common(command, o);
  }

  template <class Options>
  static void add_common(CLI::App& command, Options& o) {
    command.add_flag("--json", o.json, "Print JSON");
    command.add_flag("-q,--quiet", o.quiet, "No progress and no notes on stderr");
  }

  void add_convert() {
    add_model(app_, convert_);
    app_.add_option("--to", convert_.format, "Format; see hfconvert formats")->type_name("FORMAT");
    app_.add_option("-o,--output", convert_.output, "Folder to write, instead of ./<name>-<format>")
        ->type_name("DIR")
        ->check(hf::not_empty);
    app_.add_flag("--overwrite", convert_.overwrite, "Write into a folder that is not empty");
    app_.callback([this] {
      if (!app_.get_subcommands().empty()) return;
      if (convert_.model.empty()) throw CLI::RequiredError("MODEL");
      if (convert_.format.empty()) throw CLI::RequiredError("--to");
      command_ = [this] { return run_convert(convert_); };
    });
  }

  void add_inspect() {
    CLI::App& command = *app_.add_subcommand("inspect", "Show what a model is and holds");
    command.footer(kInspectExamples);
    add_model(command, inspect_);
    command.get_option("MODEL")->required();
    command.add_flag("--tensors", inspect_.tensors, "List the tensors");
    command.add_flag("--graph", inspect_.graph, "Print the graph, one line a node");
    command.callback([this] { command_ = [this] { return run_inspect(inspect_); }; });
  }

  void add_list(const char* name, const char* about, ListCommand& options, int (*run)(const ListCommand&)) {
    CLI::App& command = *app_.add_subcommand(name, about);
    add_common(command, options);
    command.callback([this, &options, run] { command_ = [&options, run] { return run(options); }; });
  }

  CLI::App app_{kAbout, "hfconvert"};
  ConvertCommand convert_;
  InspectCommand inspect_;
  ListCommand formats_, architectures_;
  std::function<int()> command_;
};

}  // namespace

int main(int argc, char** argv) {
  return hf::run_program("hfconvert", [&] { return CommandLine().run(argc, argv); });
}
