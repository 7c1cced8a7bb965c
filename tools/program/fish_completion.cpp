// The script for fish: one `complete` an option, with the condition that its command was named.
#include "tools/program/completion.h"

namespace hf {
namespace {

std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// True where the words after the program are this command's path and no further sub-command of it.
std::string condition(const std::string& path, const Command& command) {
  std::string out;
  for (std::size_t at = path.find(' '); at != std::string::npos;) {
    const std::size_t next = path.find(' ', at + 1);
    const std::string word = path.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    out += (out.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
    at = next;
  }
  if (command.commands.empty()) return out;
  if (out.empty()) return "__fish_use_subcommand";
  out += "; and not __fish_seen_subcommand_from";
  for (const Command& sub : command.commands) out += " " + sub.name;
  return out;
}

// The value's part of a `complete`: -x where only what is offered fits, -r where any file does.
std::string value_of(const Argument& argument, const Command& program) {
  if (!argument.choices.empty()) {
    std::string words;
    for (const std::string& choice : argument.choices) words += (words.empty() ? "" : " ") + choice;
    return " -x -a " + in_single_quotes(words);
  }
  switch (argument.completes) {
    case Completes::file:
    case Completes::path:
      return " -r -F";
    case Completes::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Completes::repo:
      return " -x -a " + in_single_quotes("(" + program.name + " completion --suggest repo 2>/dev/null)");
    case Completes::model:
      return " -r -F -a " + in_single_quotes("(" + program.name + " completion --suggest model 2>/dev/null)");
    case Completes::command: {
      std::string words;
      for (const Command& sub : program.commands) words += (words.empty() ? "" : " ") + sub.name;
      return " -x -a " + in_single_quotes(words);
    }
    case Completes::nothing:
      break;
  }
  return " -x";
}

}  // namespace

std::string fish_completion(const Command& program) {
  std::string out = "# Completes " + program.name + " in fish; printed by `" + program.name +
                    " completion fish`.\ncomplete -c " + program.name + " -f\n";
  for (const auto& [path, command] : all_commands(program)) {
    const std::string row =
        "complete -c " + program.name + " -n " + in_single_quotes(condition(path, *command));
    out += row + " -s h -l help -d 'Print a text about the command'\n";
    if (command == &program) out += row + " -l version -d 'Print the version'\n";
    for (const Command& sub : command->commands)
      out += row + " -a " + sub.name + " -d " + in_single_quotes(sub.about) + "\n";
    for (const Argument& argument : command->arguments) {
      if (argument.hidden) continue;
      const std::string help = " -d " + in_single_quotes(argument.help);
      if (argument.is_positional()) {
        if (const std::string value = value_of(argument, program); value != " -x")
          out += row + value.substr(3) + help + "\n";
        continue;
      }
      out += row;
      if (argument.short_name != 0) out += std::string(" -s ") + argument.short_name;
      out +=
          " -l " + argument.name.substr(2) + (argument.is_flag() ? "" : value_of(argument, program)) + help;
      out += "\n";
    }
  }
  return out;
}

}  // namespace hf
