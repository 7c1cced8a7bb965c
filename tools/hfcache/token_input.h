// Tokens that are handed in: by a file, through standard input, or typed. Never by an argument, which every
// user of the machine can read.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/environment.h"
#include "tools/program/command.h"

namespace hf::cache {

// The row of --token-file.
Argument token_file_row(std::optional<std::filesystem::path>& file);

// The token to send: of --token-file ("-": standard input) where it is given, else the user's own.
std::string token_for(const Environment& environment, const std::optional<std::filesystem::path>& file);

// Asks for a token on the terminal, without showing it. Error{usage} where standard input is none.
std::string typed_token();

}  // namespace hf::cache
