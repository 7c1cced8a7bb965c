#include "tools/program/completion.h"

#include <memory>

#include "base/error.h"
#include "tools/program/program.h"

namespace hf {
namespace {

void collect(const Command& command, const std::string& path, std::vector<CalledCommand>& out) {
  out.push_back({path, &command});
  for (const Command& sub : command.commands) collect(sub, path + " " + sub.name, out);
}

struct CompletionOptions {
  std::string shell, suggest;
};

int run_completion(const Command& program, const CompletionOptions& options) {
  if (!options.suggest.empty()) {
    if (!program.suggest) return 0;
    const Completes kind = options.suggest == "model" ? Completes::model : Completes::repo;
    for (const std::string& word : program.suggest(kind)) print_out(word + "\n");
    return 0;
  }
  if (options.shell.empty())
    throw Error(ErrorKind::usage, "SHELL: is missing, bash, zsh or fish is expected");
  print_out(options.shell == "bash"  ? bash_completion(program)
            : options.shell == "zsh" ? zsh_completion(program)
                                     : fish_completion(program));
  return 0;
}

}  // namespace

std::vector<CalledCommand> all_commands(const Command& program) {
  std::vector<CalledCommand> out;
  collect(program, program.name, out);
  return out;
}

Command completion_command(const Command& program) {
  const auto o = std::make_shared<CompletionOptions>();
  const std::string& name = program.name;
  return {.name = "completion",
          .about = "Print a script that teaches a shell the commands and options",
          .examples = {"source <(" + name + " completion bash)", name + " completion zsh > ~/.zfunc/_" + name,
                       name + " completion fish > ~/.config/fish/completions/" + name + ".fish"},
          .arguments = {positional("SHELL", o->shell, "The shell").of({"bash", "zsh", "fish"}),
                        option("--suggest", "KIND", o->suggest, "Print the values of a kind, one a line")
                            .of({"repo", "model"})
                            .unseen()},
          .run = [o, &program] { return run_completion(program, *o); }};
}

}  // namespace hf
