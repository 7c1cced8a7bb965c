#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/path_rules.h"
#include "cache/store/store.h"
#include "tools/hfcache/commands.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct PathOptions : CommonOptions, RepoOptions {
  std::string file;  // empty: the snapshot's folder
};

int run_path(const PathOptions& options) {
  const Repo repo = repo_of(options);
  const Store store(cache_root(Environment::of_process(), options.cache_dir));
  std::filesystem::path path = store.snapshot(repo, options.revision);
  const std::string commit = path.filename().string();
  if (!options.file.empty()) {
    check_relative_path(options.file);
    path /= options.file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(ErrorKind::not_found, std::string(name_of(repo.type)) + " " + escaped(repo.id) + ": " +
                                            in_quotes(options.file) +
                                            " is not in the cache, there is no file " + shown(path));
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

}  // namespace

Command path_command() {
  const auto o = std::make_shared<PathOptions>();
  return {.name = "path",
          .about = "Print where a revision or a file of it lies",
          .detail = "Looks into the cache only, never at the network.",
          .examples = {"hfcache path openai-community/gpt2",
                       "hfcache path openai-community/gpt2 config.json --revision main"},
          .exits = exits_of({0, 2, 3}),
          .arguments = joined(
              {repo_rows(*o), {positional("FILE", o->file, "A file of the revision")}, common_rows(*o)}),
          .run = [o] { return run_path(*o); }};
}

}  // namespace hf::cache
