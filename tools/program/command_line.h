// Reads a command line by the command table and runs what it names.
//
// Options stand anywhere after their command, as "--name value", "--name=value", "-o value" or "-ovalue";
// flags with one letter may be joined ("-qy"). "--" ends them, and "-" is a value. An option's value is the
// next word whatever it looks like, unless it is itself an option of the command ("--revision --json" is a
// value that was forgotten; "--revision=--json" says that it is meant).
#pragma once
#include <span>
#include <string>

#include "tools/program/command.h"

namespace hf {

// What a program's main() does: --help, --version, `completion` and `man` are answered here for every
// program. Returns the program's exit code, with run_program's messages and signals; what is wrong with the
// command line is told with the program's name before it, a hint at --help after it, and ends in 2.
int run_command_line(Command program, int argc, char** argv);

// The command that `words` (without the program's name) ask for, its fields filled; Error{usage} where they
// are no such thing. --help and --version make a command that prints.
std::function<int()> parse_command_line(const Command& program, std::span<const std::string> words);

}  // namespace hf
