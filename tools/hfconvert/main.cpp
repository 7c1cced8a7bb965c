// hfconvert: the root of the command table, and the rows that its commands share.
#include "tools/hfconvert/commands.h"
#include "tools/program/command_line.h"
#include "tools/program/resolve_model.h"

namespace hf {

std::vector<Argument> common_rows(CommonOptions& options) {
  return {flag("--json", options.json, "Print JSON"),
          flag("-q,--quiet", options.quiet, "No progress and no notes on standard error")};
}

std::vector<Argument> model_rows(ModelOptions& options) {
  return {positional("MODEL", options.model, "Repository in the cache, folder or file")
              .must()
              .completed_as(Completes::model),
          option("--revision", "R", options.revision, "Branch, tag or commit of a repository"),
          option("--task", "T", options.task, "Task of the graph, instead of the one of the model's class"),
          flag("--all-outputs", options.all_outputs,
               "Also outputs that are usually left out, such as pooler_output")};
}

}  // namespace hf

int main(int argc, char** argv) {
  using namespace hf;
  Command root = convert_command();
  root.commands = {inspect_command(), formats_command(), architectures_command()};
  root.suggest = [](Completes) { return cached_models(); };
  return run_command_line(std::move(root), argc, argv);
}
