#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/path_rules.h"
#include "cache/store/store.h"
#include "tools/hfcache/commands.h"
#include "tools/program/program.h"

namespace hf::cache {

int run_path(const PathOptions& options) {
  const Repo repo{options.repo_id, repo_type_of(options.repo_type)};
  const Store store(cache_root(Environment::of_process(), options.cache_dir));
  std::filesystem::path path = store.snapshot(repo, options.revision);
  const std::string commit = path.filename().string();
  if (!options.file.empty()) {
    check_relative_path(options.file);
    path /= options.file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(ErrorKind::not_found,
                  std::string(name_of(repo.type)) + " " + escaped(repo.id) + ": " + in_quotes(options.file) +
                      " is not in the cache, there is no file " + escaped(path.string(), 4096));
  }
  if (options.json)
    print_json({{"repo_id", repo.id},
                {"repo_type", name_of(repo.type)},
                {"revision", options.revision},
                {"commit", commit},
                {"path", path.string()}});
  else
    print_out(path.string() + "\n");
  return 0;
}

}  // namespace hf::cache
