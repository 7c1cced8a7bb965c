#include "tools/program/help.h"

#include <algorithm>

namespace hf {
namespace {

constexpr std::size_t kWidth = 80, kTitles = 24;  // columns: of a line, of the titles with their indent

std::string indented(std::string_view text, std::size_t by) {
  std::string out;
  for (const std::string& line : wrapped(text, kWidth - by)) out += std::string(by, ' ') + line + "\n";
  return out;
}

// "  TITLE        text", the text in a column of its own.
std::string entry(const std::string& title, const std::string& text) {
  std::string out = "  " + title;
  const std::vector<std::string> lines = wrapped(text, kWidth - kTitles);
  std::size_t first = 0;
  if (out.size() + 2 <= kTitles && !lines.empty()) {
    out += std::string(kTitles - out.size(), ' ') + lines[0];
    first = 1;
  }
  out += '\n';
  for (std::size_t i = first; i < lines.size(); ++i) out += std::string(kTitles, ' ') + lines[i] + "\n";
  return out;
}

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : "\n" + std::string(title) + ":\n" + body;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    while (line.size() > width) {
      std::size_t cut = line.rfind(' ', width);
      if (cut == std::string_view::npos || cut == 0) cut = std::min(line.find(' '), line.size());
      lines.emplace_back(line.substr(0, cut));
      line.remove_prefix(std::min(line.size(), cut + 1));
    }
    lines.emplace_back(line);
  }
  return lines;
}

std::string option_title(const Argument& argument) {
  std::string title = argument.short_name != 0 ? std::string{'-', argument.short_name, ',', ' '} : "";
  title += argument.name;
  return argument.value.empty() ? title : title + " " + argument.value;
}

std::string full_help(const Argument& argument) {
  std::string notes;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
  constexpr std::string_view kNumber = "a whole number from ";
  if (argument.expected.starts_with(kNumber))
    note(argument.expected.substr(kNumber.size()));
  else if (!argument.choices.empty())
    note(argument.expected);
  if (argument.repeated && !argument.is_positional()) note("may be repeated");
  if (argument.required && !argument.is_positional()) note("required");
  if (!argument.fallback.empty()) note("default: " + argument.fallback);
  return notes.empty() ? argument.help : argument.help + " [" + notes + "]";
}

std::vector<std::string> usage_lines(const Command& command, const std::string& path) {
  std::vector<std::string> lines;
  if (command.run) {
    std::string line = path + " [OPTIONS]";
    for (const Argument& argument : command.arguments) {
      if (!argument.is_positional() && argument.required) line += " " + argument.name + " " + argument.value;
    }
    for (const Argument& argument : command.arguments) {
      if (!argument.is_positional() || argument.hidden) continue;
      const std::string name = argument.name + (argument.repeated ? "..." : "");
      line += argument.required ? " " + name : " [" + name + "]";
    }
    lines.push_back(line);
  }
  if (!command.commands.empty()) lines.push_back(path + " COMMAND [ARGUMENTS]");
  return lines;
}

std::string help_text(const Command& program, const Command& command, const std::string& path) {
  std::string out = command.about + ".\n\n";
  const std::vector<std::string> usage = usage_lines(command, path);
  for (std::size_t i = 0; i < usage.size(); ++i) out += (i == 0 ? "Usage: " : "       ") + usage[i] + "\n";
  if (!command.detail.empty()) out += "\n" + indented(command.detail, 0);

  std::string positionals, options, commands, examples, exits, variables;
  for (const Argument& argument : command.arguments) {
    if (argument.hidden) continue;
    (argument.is_positional() ? positionals : options) += entry(option_title(argument), full_help(argument));
  }
  options += entry("-h, --help", "Print this text");
  if (&command == &program) options += entry("--version", "Print the version");
  for (const Command& sub : command.commands) commands += entry(sub.name, sub.about);
  for (const std::string& example : command.examples) examples += "  " + example + "\n";
  for (const Exit& exit : command.exits) exits += entry(std::to_string(exit.code), exit.meaning);
  for (const auto& [name, meaning] : command.variables) variables += entry(name, meaning);

  out += section("Arguments", positionals) + section("Commands", commands) + section("Options", options);
  out += section("Examples", examples) + section("Exit codes", exits) + section("Variables", variables);
  if (&command == &program && !command.commands.empty())
    out += "\n`" + path + " COMMAND --help` tells more about a command.\n";
  return out;
}

}  // namespace hf
