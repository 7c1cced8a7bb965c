// The text of --help, from the command table.
#pragma once
#include <string>

#include "tools/program/command.h"

namespace hf {

// `path` is how the command is called: "hfcache token login".
std::string help_text(const Command& program, const Command& command, const std::string& path);

// "hfcache download [OPTIONS] REPO_ID [FILE...]", one line a way to call it.
std::vector<std::string> usage_lines(const Command& command, const std::string& path);

// "-o, --output DIR"
std::string option_title(const Argument& argument);

// The help of an argument with what may be given, whether it repeats, and its default.
std::string full_help(const Argument& argument);

// Broken at spaces into lines of at most `width` columns; line breaks in the text stay.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace hf
