#include "tools/program/man_page.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "tools/program/help.h"
#include "tools/program/program.h"

namespace hf {
namespace {

// Text as roff takes it: nothing in it is a request, and a hyphen is the one that can be typed.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string page_name(std::string path) {
  std::replace(path.begin(), path.end(), ' ', '-');
  return path;
}

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : ".SH " + std::string(title) + "\n" + body;
}

std::string entry(const std::string& title, std::string_view text) {
  return ".TP\n" + title + "\n" + roff(text) + "\n";
}

// A blank line of a table's text begins a paragraph.
std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    out += ".PP\n" + roff(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(text.size(), end + 2));
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string title_of(const Argument& argument) {
  if (argument.is_positional()) return italic(argument.name);
  std::string title = argument.short_name != 0 ? bold({'-', argument.short_name}) + ", " : "";
  title += bold(argument.name);
  return argument.value.empty() ? title : title + " " + italic(argument.value);
}

std::string synopsis(const Command& command, const std::string& path) {
  std::string out;
  for (const std::string& line : usage_lines(command, path)) {
    if (!out.empty()) out += ".br\n";
    out += ".B " + roff(path) + "\n" + roff(std::string_view(line).substr(path.size() + 1)) + "\n";
  }
  return out;
}

std::string see_also(const Command& program, const Command& command, const std::string& path) {
  std::vector<std::string> names;
  if (&command != &program) names.push_back(program.name);
  for (const Command& sub : command.commands) names.push_back(page_name(path + " " + sub.name));
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += ".BR " + roff(names[i]) + " (1)" + (i + 1 < names.size() ? ",\n" : "\n");
  return out;
}

void write_pages(const Command& program, const Command& command, const std::string& path,
                 const std::filesystem::path& folder) {
  write_file(folder / (page_name(path) + ".1"), man_page(program, command, path));
  for (const Command& sub : command.commands) write_pages(program, sub, path + " " + sub.name, folder);
}

struct ManOptions {
  std::vector<std::string> command;
  std::optional<std::filesystem::path> output;
};

int run_man(const Command& program, const ManOptions& options) {
  if (options.output) {
    if (!options.command.empty())
      throw Error(ErrorKind::usage, "--output: takes all pages, COMMAND cannot be given with it");
    std::error_code failed;
    std::filesystem::create_directories(*options.output, failed);
    if (failed) throw Error(ErrorKind::io, system_error(shown(*options.output), failed.value()).what());
    write_pages(program, program, program.name, *options.output);
    return 0;
  }
  const Command* command = &program;
  std::string path = program.name;
  for (const std::string& word : options.command) {
    command = command->find(word);
    if (command == nullptr) throw Error(ErrorKind::usage, in_quotes(word) + ": is no command of " + path);
    path += " " + word;
  }
  print_out(man_page(program, *command, path));
  return 0;
}

}  // namespace

std::string man_page(const Command& program, const Command& command, const std::string& path) {
  std::string positionals, options, commands, examples, exits, variables;
  for (const Argument& argument : command.arguments)
    if (!argument.hidden)
      (argument.is_positional() ? positionals : options) += entry(title_of(argument), full_help(argument));
  options += entry(bold("-h") + ", " + bold("--help"), "Print a short text about the command");
  if (&command == &program) options += entry(bold("--version"), "Print the version");
  for (const Command& sub : command.commands) commands += entry(bold(sub.name), sub.about);
  for (const std::string& example : command.examples) examples += roff(example) + "\n";
  for (const Exit& exit : command.exits) exits += entry(bold(std::to_string(exit.code)), exit.meaning);
  for (const auto& [name, meaning] : command.variables) variables += entry(bold(name), meaning);

  const std::string version(program_version());
  std::string out = ".TH " + roff(upper(page_name(path))) + " 1 \"\" \"hfkit " + version + "\" \"hfkit\"\n";
  out += section("NAME", roff(page_name(path)) + " \\- " + roff(command.about) + "\n");
  out += section("SYNOPSIS", synopsis(command, path));
  out += section("DESCRIPTION", paragraphs(command.detail.empty() ? command.about + "." : command.detail));
  out += section("ARGUMENTS", positionals) + section("COMMANDS", commands) + section("OPTIONS", options);
  if (!examples.empty()) out += section("EXAMPLES", ".nf\n" + examples + ".fi\n");
  return out + section("EXIT STATUS", exits) + section("ENVIRONMENT", variables) +
         section("SEE ALSO", see_also(program, command, path));
}

Command man_command(const Command& program) {
  const auto o = std::make_shared<ManOptions>();
  Argument output =
      option("-o,--output", "DIR", o->output, "Write the pages of all commands into this folder");
  return {.name = "man",
          .about = "Print a manual page",
          .examples = {program.name + " man | man -l -", program.name + " man --output man1"},
          .arguments = {positional("COMMAND", o->command, "Of this command; else of the whole program")
                            .completed_as(Completes::command),
                        output.completed_as(Completes::folder)},
          .run = [o, &program] { return run_man(program, *o); }};
}

}  // namespace hf
