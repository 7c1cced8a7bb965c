// The MODEL of a command line.
#pragma once
#include <filesystem>
#include <string>

namespace hf {

// What MODEL stands for: a path that exists as it is, else the snapshot of a repository in the user's cache,
// with no network. Throws Error{not_found} naming both places.
std::filesystem::path resolve_model(const std::string& model, const std::string& revision);

}  // namespace hf
