// The sub-commands of hfcache: a row of the command table each, in the file of that name, and the rows that
// they share.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/hub/repo.h"
#include "cache/store/store.h"
#include "tools/program/command.h"

namespace hf::cache {

Command adopt_command();
Command download_command();
Command env_command();
Command ls_command();
Command path_command();
Command token_command();
Command prune_command();
Command rm_command();
Command verify_command();

struct CommonOptions {
  bool json = false, quiet = false;
  std::optional<std::filesystem::path> cache_dir;
};
std::vector<Argument> common_rows(CommonOptions& options);  // --cache-dir, --json, --quiet
// The cache to look into: Error{not_found} when --cache-dir names none. The default one need not exist.
Store cache_of(const CommonOptions& options);

// A repository as the command line names it: "namespace/name", also with its type before it as in the Hub's
// addresses ("datasets/namespace/name", "dataset/namespace/name").
struct RepoOptions {
  std::string repo_id, repo_type, revision = "main";
};
std::vector<Argument> repo_rows(RepoOptions& options);  // REPO_ID, --repo-type, --revision
Repo repo_of(const RepoOptions& options);               // checked, the revision too; Error{usage}

}  // namespace hf::cache
