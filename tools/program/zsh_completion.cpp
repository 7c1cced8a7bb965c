// The script for zsh: one _arguments call a command.
#include "tools/program/completion.h"
#include "tools/program/help.h"

namespace hf {
namespace {

std::string function_name(std::string path) {
  for (char& c : path) c = c == ' ' || c == '-' ? '_' : c;
  return "_" + path;
}

// Within a '...' of the shell and a spec of _arguments, where brackets and colons end a text.
std::string spec_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string action(const Argument& argument, const std::string& program) {
  if (!argument.choices.empty()) {
    std::string words;
    for (const std::string& choice : argument.choices) words += (words.empty() ? "" : " ") + choice;
    return "(" + words + ")";
  }
  switch (argument.completes) {
    case Completes::file:
    case Completes::path:
      return "_files";
    case Completes::folder:
      return "_files -/";
    case Completes::repo:
      return "_" + program + "_repos";
    case Completes::model:
      return "_" + program + "_models";
    case Completes::command:
      return "_" + program + "_commands";
    case Completes::nothing:
      break;
  }
  return "";
}

std::string option_spec(const Argument& argument, const std::string& program) {
  const std::string tail =
      "[" + spec_text(argument.help) + "]" +
      (argument.is_flag() ? "" : ":" + spec_text(argument.value) + ":" + action(argument, program));
  if (argument.short_name == 0) return (argument.repeated ? "'*" : "'") + argument.name + tail + "'";
  const std::string letter = std::string("-") + argument.short_name;
  return (argument.repeated ? std::string("'*'") : "'(" + letter + " " + argument.name + ")'") + "{" +
         letter + "," + argument.name + "}'" + tail + "'";
}

std::string function_of(const std::string& path, const Command& command, const std::string& program) {
  std::string out = function_name(path) + "() {\n";
  if (!command.commands.empty()) out += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n";
  out += "  _arguments -s -C \\\n    '(- *)'{-h,--help}'[Print a text about the command]'";
  if (path == program) out += " \\\n    '(- *)--version[Print the version]'";
  int number = 0;
  for (const Argument& argument : command.arguments) {
    if (argument.hidden) continue;
    if (!argument.is_positional()) {
      out += " \\\n    " + option_spec(argument, program);
    } else if (command.commands.empty()) {
      const std::string place = argument.repeated ? "*" : std::to_string(++number);
      out += " \\\n    '" + place + ":" + spec_text(argument.name) + ":" + action(argument, program) + "'";
    }
  }
  if (command.commands.empty()) return out + "\n}\n";

  out +=
      " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      local -a "
      "commands\n"
      "      commands=(\n";
  for (const Command& sub : command.commands)
    out += "        '" + sub.name + ":" + spec_text(sub.about) + "'\n";
  out += "      )\n      _describe command commands\n";
  for (const Argument& argument : command.arguments)
    if (argument.is_positional()) out += "      " + action(argument, program) + "\n";
  out += "      ;;\n    rest)\n      case $line[1] in\n";
  for (const Command& sub : command.commands)
    out += "        " + sub.name + ") " + function_name(path + " " + sub.name) + " ;;\n";
  return out + "      esac\n      ;;\n  esac\n}\n";
}

}  // namespace

std::string zsh_completion(const Command& program) {
  const std::string& name = program.name;
  std::string subcommands;
  for (const Command& sub : program.commands) subcommands += (subcommands.empty() ? "" : " ") + sub.name;
  std::string out =
      "#compdef " + name + "\n# Completes " + name + " in zsh; printed by `" + name + " completion zsh`.\n";
  out += "_" + name + "_known() {\n  local -a known\n  known=(${(f)\"$(" + name +
         " completion --suggest $1 2>/dev/null)\"})\n  compadd -a known\n}\n";
  out += "_" + name + "_repos() { _" + name + "_known repo }\n";
  out += "_" + name + "_models() { _files; _" + name + "_known model }\n";
  out += "_" + name + "_commands() { compadd " + subcommands + " }\n";
  for (const auto& [path, command] : all_commands(program)) out += function_of(path, *command, name);
  return out + "if [[ $funcstack[1] == _" + name + " ]]; then\n  _" + name + " \"$@\"\nelse\n  compdef _" +
         name + " " + name + "\nfi\n";
}

}  // namespace hf
