// The script for bash. It needs nothing but bash 4: no package of completions.
//
// It walks the words to find the command, counts the positionals that stand before the cursor, and looks up
// in `case` tables what stands at the cursor: "PATH OPTION" an option's value, "PATH NUMBER" a positional.
#include "tools/program/completion.h"

namespace hf {
namespace {

std::string in_double_quotes(const std::string& text) { return '"' + text + '"'; }

std::string offer(const Argument& argument) {
  if (!argument.choices.empty()) {
    std::string words;
    for (const std::string& choice : argument.choices) words += (words.empty() ? "" : " ") + choice;
    return "offer_words '" + words + "'";
  }
  switch (argument.completes) {
    case Completes::file:
    case Completes::path:
      return "offer_files -f";
    case Completes::folder:
      return "offer_files -d";
    case Completes::repo:
      return "offer_words \"$($program completion --suggest repo 2>/dev/null)\"";
    case Completes::model:
      return "offer_words \"$($program completion --suggest model 2>/dev/null)\"; local -a "
             "repos=(\"${COMPREPLY[@]}\")"
             "; offer_files -f; COMPREPLY+=(\"${repos[@]}\")";
    case Completes::command:
      return "offer_words \"$subcommands\"";
    case Completes::nothing:
      break;
  }
  return ":";
}

// "PATH OPTION) offer ...;;" for each option with a value.
std::string value_cases(const std::vector<CalledCommand>& all) {
  std::string out;
  for (const auto& [path, command] : all) {
    for (const Argument& argument : command->arguments) {
      if (argument.is_positional() || argument.is_flag() || argument.hidden) continue;
      std::string pattern = in_double_quotes(path + " " + argument.name);
      if (argument.short_name != 0) pattern += "|" + in_double_quotes(path + " -" + argument.short_name);
      out += "    " + pattern + ") " + offer(argument) + "; return ;;\n";
    }
  }
  return out;
}

std::string positional_cases(const std::vector<CalledCommand>& all) {
  std::string out;
  for (const auto& [path, command] : all) {
    int number = 0;
    for (const Argument& argument : command->arguments) {
      if (!argument.is_positional() || argument.hidden) continue;
      ++number;
      const std::string pattern = argument.repeated ? in_double_quotes(path + " ") + "*"
                                                    : in_double_quotes(path + " " + std::to_string(number));
      out += "    " + pattern + ") " + offer(argument) + " ;;\n";
    }
  }
  return out;
}

// Which options stand before a word that is their value.
std::string takes_value(const std::vector<CalledCommand>& all) {
  std::string out;
  for (const auto& [path, command] : all) {
    for (const Argument& argument : command->arguments) {
      if (argument.is_positional() || argument.is_flag()) continue;
      out += (out.empty() ? "" : "|") + in_double_quotes(path + " " + argument.name);
      if (argument.short_name != 0) out += "|" + in_double_quotes(path + " -" + argument.short_name);
    }
  }
  return out.empty() ? "''" : out;
}

std::string option_cases(const std::vector<CalledCommand>& all) {
  std::string out;
  for (const auto& [path, command] : all) {
    std::string options = "--help", commands;
    if (command == all.front().command) options += " --version";
    for (const Argument& argument : command->arguments) {
      if (argument.is_positional() || argument.hidden) continue;
      options += " " + argument.name;
      if (argument.short_name != 0) options += std::string(" -") + argument.short_name;
    }
    for (const Command& sub : command->commands) commands += (commands.empty() ? "" : " ") + sub.name;
    out += "    " + in_double_quotes(path) + ") options='" + options + "' commands='" + commands + "' ;;\n";
  }
  return out;
}

std::string path_patterns(const std::vector<CalledCommand>& all) {
  std::string out;
  for (const auto& [path, command] : all)
    if (command != all.front().command) out += (out.empty() ? "" : "|") + in_double_quotes(path);
  return out;
}

constexpr const char* kOffers = R"(
  offer_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
  offer_files() {
    mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
    compopt -o filenames 2>/dev/null
  }
)";

// "--option=value" arrives as three words where "=" breaks words, as it does by default.
constexpr const char* kWords = R"(
  local -a words=()
  local current=${COMP_WORDS[COMP_CWORD]} word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == = ]] || words+=("${COMP_WORDS[i]}")
  done
  [[ $current == = ]] && current=
)";

}  // namespace

std::string bash_completion(const Command& program) {
  const std::vector<CalledCommand> all = all_commands(program);
  const std::string& name = program.name;
  std::string subcommands;
  for (const Command& sub : program.commands) subcommands += (subcommands.empty() ? "" : " ") + sub.name;

  std::string out =
      "# Completes " + name + " in bash 4 or newer; printed by `" + name + " completion bash`.\n";
  out += "_" + name + "() {\n  local program=${COMP_WORDS[0]} subcommands='" + subcommands + "'\n";
  out += "  program=${program/#\\~/$HOME}\n  COMPREPLY=()";
  out += std::string(kWords) + kOffers;
  out += "\n  local path=" + name + " previous= commands= options= count=1\n  i=0\n";
  out += "  while ((i < ${#words[@]})); do\n    case \"$path ${words[i]}\" in\n      " + path_patterns(all) +
         ") path+=\" ${words[i]}\"; i=$((i + 1)) ;;\n      *) break ;;\n    esac\n  done\n";
  out += "  for word in \"${words[@]:i}\"; do\n    case \"$path $previous\" in\n      " + takes_value(all) +
         ") previous= ;;\n      *) previous=$word; [[ $word == -?* ]] || count=$((count + 1)) ;;\n"
         "    esac\n  done\n";
  out += "\n  case \"$path $previous\" in\n" + value_cases(all) + "  esac\n";
  out += "  case $path in\n" + option_cases(all) + "  esac\n";
  out += "  if [[ $current == -* ]]; then\n    offer_words \"$options\"\n    return\n  fi\n";
  out += "  case \"$path $count\" in\n" + positional_cases(all) + "  esac\n";
  out +=
      "  if ((${#words[@]} == i)) && [[ -n $commands ]]; then\n    local -a found=(\"${COMPREPLY[@]}\")\n"
      "    offer_words \"$commands\"\n    COMPREPLY+=(\"${found[@]}\")\n  fi\n";
  return out + "}\ncomplete -F _" + name + " " + name + "\n";
}

}  // namespace hf
