#include "cache/store/store.h"

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "cache/hub/credentials.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

struct RootVariable {
  const char* name;
  bool expanded;  // "~" and "$NAME" in it
};
constexpr RootVariable kRootVariables[] = {{"HF_HUB_CACHE", true},
                                           {"HUGGINGFACE_HUB_CACHE", true},
                                           {"TRANSFORMERS_CACHE", false},
                                           {"PYTORCH_TRANSFORMERS_CACHE", false},
                                           {"PYTORCH_PRETRAINED_BERT_CACHE", false}};

}  // namespace

std::string without_line_end(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

fs::path locate(std::string_view repo_id, std::string_view revision) {
  return Store(cache_root(Environment::of_process())).snapshot({std::string(repo_id)}, revision);
}

fs::path cache_root(const Environment& environment, const std::optional<fs::path>& cache_dir) {
  if (cache_dir) return *cache_dir;
  for (const RootVariable& variable : kRootVariables)
    if (const auto value = environment.get(variable.name))
      return variable.expanded ? environment.expand(*value) : fs::path(*value);
  return hf_home(environment) / "hub";
}

const char* cache_root_variable(const Environment& environment) {
  for (const RootVariable& variable : kRootVariables)
    if (environment.get(variable.name)) return variable.name;
  for (const char* home : {"HF_HOME", "XDG_CACHE_HOME"})
    if (environment.get(home)) return home;
  return nullptr;
}

Store Store::of(const Environment& environment, const std::optional<fs::path>& cache_dir) {
  return Store(cache_root(environment, cache_dir), links_of(environment));
}

fs::path Store::folder(const Repo& repo) const {
  check_repo(repo);
  return root_ / folder_name(repo);
}

std::optional<std::string> Store::commit_of(const Repo& repo, std::string_view revision) const {
  check_revision(revision);
  const fs::path ref = folder(repo) / "refs" / revision;
  std::error_code ignored;
  if (!fs::is_regular_file(ref, ignored))
    return is_commit(revision) ? std::optional<std::string>(revision) : std::nullopt;
  std::string commit = without_line_end(read_text(ref, 4096));
  if (!is_commit(commit))
    throw Error(ErrorKind::integrity,
                shown(ref) + ": holds " + in_quotes(commit) + ", 40 hex digits are expected");
  return commit;
}

fs::path Store::snapshot(const Repo& repo, std::string_view revision) const {
  const std::string subject = std::string(name_of(repo.type)) + " " + escaped(repo.id);
  const fs::path home = folder(repo);
  if (!is_folder(home))
    throw Error(ErrorKind::not_found, subject + ": not in the cache, there is no folder " + shown(home));
  const auto commit = commit_of(repo, revision);
  if (!commit)
    throw Error(ErrorKind::not_found, subject + ": revision " + in_quotes(revision) +
                                          " is not in the cache, there is no file " +
                                          shown(home / "refs" / revision));
  fs::path snapshot = home / "snapshots" / *commit;
  if (!is_folder(snapshot))
    throw Error(ErrorKind::not_found, subject + ": revision " + in_quotes(revision) +
                                          " is not in the cache, there is no folder " + shown(snapshot));
  return snapshot;
}

}  // namespace hf::cache
