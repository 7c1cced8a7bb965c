#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "cache/store/scan.h"
#include "tools/hfcache/commands.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct LsOptions : CommonOptions {};

nlohmann::ordered_json described(const std::vector<CachedRepo>& repos) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const CachedRepo& repo : repos) {
    nlohmann::ordered_json revisions = nlohmann::ordered_json::array();
    for (const CachedRevision& revision : repo.revisions)
      revisions.push_back({{"commit", revision.commit},
                           {"refs", revision.refs},
                           {"files", revision.files},
                           {"bytes", revision.bytes},
                           {"path", revision.path.string()}});
    out.push_back({{"repo_id", repo.repo.id},
                   {"repo_type", name_of(repo.repo.type)},
                   {"bytes", repo.bytes},
                   {"partial_bytes", repo.partial_bytes},
                   {"revisions", std::move(revisions)},
                   {"problems", repo.problems}});
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

void print_table(const std::vector<CachedRepo>& repos) {
  std::vector<std::vector<std::string>> rows;
  for (const CachedRepo& repo : repos) {
    const std::string type(name_of(repo.repo.type));
    for (const CachedRevision& revision : repo.revisions)
      rows.push_back({repo.repo.id, type, revision.commit.substr(0, 12), joined(revision.refs),
                      std::to_string(revision.files), human_size(revision.bytes)});
    if (repo.revisions.empty()) rows.push_back({repo.repo.id, type, "-", "", "0", human_size(0)});
  }
  print_out(format_table({{"REPO_ID"},
                          {"TYPE"},
                          {"REVISION"},
                          {"REFS"},
                          {"FILES", Column::Align::right},
                          {"SIZE", Column::Align::right}},
                         rows));
}

void print_notes(const std::vector<CachedRepo>& repos) {
  for (const CachedRepo& repo : repos) {
    const std::string id = escaped(repo.repo.id);
    if (repo.partial_bytes > 0)
      std::fprintf(stderr, "%s: %s of unfinished downloads\n", id.c_str(),
                   human_size(repo.partial_bytes).c_str());
    for (const std::string& problem : repo.problems)
      std::fprintf(stderr, "%s: %s\n", id.c_str(), problem.c_str());
  }
}

int run_ls(const LsOptions& options) {
  const std::vector<CachedRepo> repos = scan(Store(cache_root(Environment::of_process(), options.cache_dir)));
  if (options.json) {
    print_json(described(repos));
    return 0;
  }
  print_table(repos);
  if (!options.quiet) print_notes(repos);
  return 0;
}

}  // namespace

Command ls_command() {
  const auto o = std::make_shared<LsOptions>();
  return {.name = "ls",
          .about = "List what is in the cache",
          .detail = "One line a revision; what is wrong with a repository is told on standard error.",
          .examples = {"hfcache ls", "hfcache ls --cache-dir /mnt/models --json"},
          .exits = exits_of({0, 2, 8}),
          .arguments = common_rows(*o),
          .run = [o] { return run_ls(*o); }};
}

}  // namespace hf::cache
