#include "tools/hfcache/commands.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"

namespace hf::cache {

std::vector<Argument> common_rows(CommonOptions& options) {
  return {option("--cache-dir", "DIR", options.cache_dir, "The cache, instead of HF_HUB_CACHE or HF_HOME/hub")
              .completed_as(Completes::folder),
          flag("--json", options.json, "Print JSON"),
          flag("-q,--quiet", options.quiet, "No progress and no notes on standard error")};
}

Store cache_of(const CommonOptions& options) {
  std::error_code error;
  if (options.cache_dir && !std::filesystem::exists(*options.cache_dir, error))
    throw Error(ErrorKind::not_found, "--cache-dir: there is no folder " + shown(*options.cache_dir));
  return Store(cache_root(Environment::of_process(), options.cache_dir));
}

std::vector<Argument> repo_rows(RepoOptions& options) {
  return {positional("REPO_ID", options.repo_id, "namespace/name, or datasets/namespace/name and the like")
              .must()
              .completed_as(Completes::repo),
          option("--repo-type", "TYPE", options.repo_type, "Type of the repository")
              .of({"model", "dataset", "space"})
              .shown_default("model"),
          option("--revision", "R", options.revision, "Branch, tag, commit or pull request (refs/pr/N)")};
}

// Only an id of three parts can have a type in it: "datasets/squad" may be a model of one who is called so.
Repo repo_of(const RepoOptions& options) {
  std::string id = options.repo_id, type = options.repo_type;
  if (std::count(id.begin(), id.end(), '/') == 2) {
    const std::size_t slash = id.find('/');
    std::string prefix = id.substr(0, slash);
    if (prefix.ends_with('s')) prefix.pop_back();
    if (prefix == "model" || prefix == "dataset" || prefix == "space") {
      if (!type.empty() && type != prefix)
        throw Error(ErrorKind::usage,
                    "--repo-type: is " + type + ", but " + in_quotes(options.repo_id) + " names a " + prefix);
      type = prefix;
      id.erase(0, slash + 1);
    }
  }
  Repo repo{id, repo_type_of(type.empty() ? "model" : type)};
  check_repo(repo);
  check_revision(options.revision);
  return repo;
}

}  // namespace hf::cache
