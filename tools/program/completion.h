// What the shells complete, from the command table.
#pragma once
#include <string>

#include "tools/program/command.h"

namespace hf {

std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

// "hfcache completion bash|zsh|fish": the script to standard output. The scripts ask the program itself for
// what only this machine knows, with its hidden option --suggest. `program` must live as long.
Command completion_command(const Command& program);

// Each command with how it is called, the program's own first.
struct CalledCommand {
  std::string path;
  const Command* command;
};
std::vector<CalledCommand> all_commands(const Command& program);

}  // namespace hf
