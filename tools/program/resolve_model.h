// The MODEL of a command line.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace hf {

// What MODEL stands for: a path that exists as it is, else the snapshot of a repository in the user's cache,
// with no network. Throws Error{not_found} naming both places.
std::filesystem::path resolve_model(const std::string& model, const std::string& revision);

// The repositories in the user's cache, for shells to complete: by the names of their folders alone, since a
// completion must not wait for a scan. Those of other types are "datasets/namespace/name" and the like.
std::vector<std::string> cached_repos();
std::vector<std::string> cached_models();

}  // namespace hf
