// Manual pages from the command table, in man(7).
#pragma once
#include <string>

#include "tools/program/command.h"

namespace hf {

// The page of a command that is called by `path` ("hfcache token login"). No date stands in it: the same
// table makes the same bytes.
std::string man_page(const Command& program, const Command& command, const std::string& path);

// "hfcache man [COMMAND]": a page to standard output, or all of them into a folder. `program` must live as
// long.
Command man_command(const Command& program);

}  // namespace hf
