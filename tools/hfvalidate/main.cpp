// hfvalidate: the root of the command table, and the rows that its commands share.
#include "tools/hfvalidate/commands.h"
#include "tools/program/command_line.h"
#include "tools/program/resolve_model.h"

namespace hf::runtime {

std::vector<Argument> model_rows(ModelOptions& o) {
  constexpr std::uint64_t kMost = 1 << 20;
  return {
      positional("MODEL", o.model, "Folder, .onnx file or repository id")
          .must()
          .completed_as(Completes::model),
      option("--revision", "R", o.revision, "Branch, tag or commit of a repository"),
      option("--task", "T", o.task, "Of a checkpoint, where config.json names no class or another one"),
      option("--device", "D", o.device, "cpu, cuda or cuda:N; `hfvalidate devices` lists them"),
      number("--threads", "N", o.threads, "Threads of the CPU device", 1, 1024).shown_default("one a core"),
      number("--seed", "S", o.seed, "Of the inputs that are made", 0,
             std::numeric_limits<std::uint64_t>::max()),
      number("--batch", "B", o.batch, "Rows of the inputs that are made", 1, kMost),
      number("--sequence", "L", o.sequence, "Length of the inputs that are made", 1, kMost),
      flag("--json", o.json, "Print JSON")};
}

namespace {

Command hfvalidate() {
  return {.name = "hfvalidate",
          .about = "Run a model and compare what it gives with a reference",
          .detail =
              "The reference is recorded outputs of another implementation, or another model. What was "
              "written is read back, never what it was written from.\n\nMODEL is an .onnx file, a folder "
              "with .onnx files or with config.json and safetensors, or a repository id, which is looked "
              "up in the cache and never on the network.",
          .examples = {"hfvalidate compare out/model.onnx --against reference.safetensors",
                       "hfvalidate compare out --against sentence-transformers/all-MiniLM-L6-v2 --layers",
                       "hfvalidate run out -o outputs.safetensors"},
          .exits = exits_of({0, 1, 2, 3, 6, 7, 8, 9, 130}),
          .commands = {compare_command(), run_command(), devices_command()},
          .suggest = [](Completes) { return cached_models(); }};
}

}  // namespace
}  // namespace hf::runtime

int main(int argc, char** argv) { return hf::run_command_line(hf::runtime::hfvalidate(), argc, argv); }
