// hfvalidate: the command line. Flags are bound to the options of commands.h and nothing else happens here.
#include <CLI/CLI.hpp>
#include <functional>

#include "base/error.h"
#include "tools/hfvalidate/commands.h"
#include "tools/program/program.h"

namespace {

using namespace hf::runtime;

constexpr const char* kAbout =
    "Runs a model and compares what it gives with a reference: recorded outputs of another implementation, "
    "or\n"
    "another model. What was written is read back, never what it was written from.";

constexpr const char* kExitCodes =
    "MODEL is an .onnx file, a folder with .onnx files or with config.json and safetensors, or a repository "
    "id,\n"
    "which is looked up in the cache and never on the network.\n\n"
    "Exit codes: 0 same, 1 different, 2 usage, 3 not found, 6 malformed file, 7 not supported, 8 local input "
    "or\n"
    "output, 9 out of device memory, 130 and 143 interrupted.";

constexpr const char* kProgramExamples =
    "Examples:\n"
    "  hfvalidate compare out/model.onnx --against reference.safetensors\n"
    "  hfvalidate compare out --against sentence-transformers/all-MiniLM-L6-v2 --layers\n"
    "  hfvalidate run out -o outputs.safetensors\n\n";

constexpr const char* kCompareExamples =
    "REF is a file of tensors inputs.NAME and outputs.NAME (tools/dev/capture_reference.py makes one from\n"
    "transformers), or another MODEL: then both run on inputs made from --seed. A value a is right for a\n"
    "reference r where |a - r| <= max(1e-5, 3 x the reference's recorded noise, 1e-6 |r|) in fp32;\n"
    "--tolerance T replaces that by |a - r| <= T. NaN is never right.\n\n"
    "Examples:\n"
    "  hfvalidate compare out/model.onnx --against reference.safetensors\n"
    "  hfvalidate compare ./my-bert --layers        (its own reference.safetensors)\n"
    "  hfvalidate compare out --against ./my-bert --seed 7 --batch 4 --sequence 128 --json";

constexpr const char* kRunExamples =
    "Inputs are a reference's, a file of tensors named as the inputs, or made from --seed. The file that -o "
    "writes\n"
    "is a reference in its turn: inputs.NAME and outputs.NAME.\n\n"
    "Examples:\n"
    "  hfvalidate run out/model.onnx\n"
    "  hfvalidate run out --inputs reference.safetensors -o outputs.safetensors\n"
    "  hfvalidate run openai-community/gpt2 --batch 1 --sequence 64 --threads 4 --json";

constexpr const char* kDevicesExamples =
    "Examples:\n"
    "  hfvalidate devices\n"
    "  hfvalidate devices --json";

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", "hfvalidate " + std::string(hf::program_version()));
    app_.footer(std::string(kProgramExamples) + kExitCodes);
    app_.require_subcommand(1);
    add_compare();
    add_run();
    add_devices();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? 0 : hf::exit_code(hf::ErrorKind::usage);
    }
    return command_();
  }

 private:
  CLI::App& add_command(const char* name, const char* about, const char* examples, CommonOptions& options) {
    CLI::App& command = *app_.add_subcommand(name, about);
    command.footer(examples);
    command.add_flag("--json", options.json, "Print JSON");
    return command;
  }

  static void add_model(CLI::App& command, ModelOptions& o) {
    command.add_option("MODEL", o.model, "Folder, .onnx file or repository id")->required()->type_name("");
    command.add_option("--revision", o.revision, "Branch, tag or commit of a repository")
        ->capture_default_str()
        ->type_name("R");
    command.add_option("--task", o.task, "Of a checkpoint, where config.json names no class or another one")
        ->type_name("T");
    command.add_option("--device", o.device, "cpu, cuda or cuda:N; `hfvalidate devices` lists them")
        ->capture_default_str()
        ->type_name("D");
    command.add_option("--threads", o.threads, "Threads of the CPU device; one a core where absent")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    command.add_option("--seed", o.seed, "Of the inputs that are made")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str()
        ->type_name("S");
    command.add_option("--batch", o.batch, "Rows of the inputs that are made")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->type_name("B");
    command.add_option("--sequence", o.sequence, "Length of the inputs that are made")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20))
        ->type_name("L");
  }

  void add_compare() {
    CompareOptions& o = compare_;
    CLI::App& command = add_command("compare", "Hold a model against a reference", kCompareExamples, o);
    add_model(command, o);
    command
        .add_option("--against", o.against,
                    "Reference file or model; reference.safetensors beside MODEL where absent")
        ->type_name("REF")
        ->check(hf::not_empty);
    command.add_flag("--layers", o.layers, "Compare also the hidden states between the layers");
    command.add_option("--tolerance", o.tolerance, "Greatest absolute difference")
        ->check(CLI::NonNegativeNumber)
        ->type_name("T");
    command.add_flag("-q,--quiet", o.quiet, "Only the verdict and where the two part");
    command.callback([this] { command_ = [this] { return run_compare(compare_); }; });
  }

  void add_run() {
    RunOptions& o = run_;
    CLI::App& command = add_command("run", "Run a model once", kRunExamples, o);
    add_model(command, o);
    command.add_option("--inputs", o.inputs, "File of tensors NAME or inputs.NAME")
        ->type_name("FILE")
        ->check(hf::not_empty);
    command.add_option("-o,--output", o.output, "Write inputs and outputs to this file")
        ->type_name("FILE")
        ->check(hf::not_empty);
    command.add_flag("--layers", o.layers, "Also the hidden states between the layers");
    command.add_flag("-q,--quiet", o.quiet, "Print nothing");
    command.callback([this] { command_ = [this] { return run_run(run_); }; });
  }

  void add_devices() {
    add_command("devices", "List what can run a model", kDevicesExamples, devices_).callback([this] {
      command_ = [this] { return run_devices(devices_); };
    });
  }

  CLI::App app_{kAbout, "hfvalidate"};
  CompareOptions compare_;
  RunOptions run_;
  DevicesOptions devices_;
  std::function<int()> command_;
};

}  // namespace

int main(int argc, char** argv) {
  return hf::run_program("hfvalidate", [&] { return CommandLine().run(argc, argv); });
}
