#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "cache/store/listing.h"
#include "tools/hfcache/commands.h"
#include "tools/hfcache/file_time.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct LsOptions : CommonOptions {
  bool revisions = false;
  std::vector<std::string> filters;
  std::string sort;
  std::optional<std::uint64_t> limit;
};

using Json = nlohmann::ordered_json;

Json described(const CachedRevision& revision) {
  return {{"commit", revision.commit},
          {"refs", revision.refs},
          {"synthetic", revision.is_synthetic},
          {"files", revision.files},
          {"bytes", revision.bytes},
          {"last_used", utc_time(revision.last_used)},
          {"last_modified", utc_time(revision.last_modified)},
          {"path", revision.path.string()}};
}

Json described(const CachedRepo& repo) {
  Json revisions = Json::array();
  for (const CachedRevision& revision : repo.revisions) revisions.push_back(described(revision));
  return {{"repo_id", repo.repo.id},
          {"repo_type", name_of(repo.repo.type)},
          {"files", repo.files},
          {"bytes", repo.bytes},
          {"unreferenced_bytes", repo.unreferenced_bytes},
          {"partial_bytes", repo.partial_bytes},
          {"last_used", utc_time(repo.last_used)},
          {"last_modified", utc_time(repo.last_modified)},
          {"path", repo.path.string()},
          {"revisions", std::move(revisions)},
          {"problems", repo.problems}};
}

Json described(const std::vector<ListedLine>& lines) {
  Json out = Json::array();
  for (const ListedLine& line : lines) {
    if (line.revision == nullptr) {
      out.push_back(described(*line.repo));
      continue;
    }
    Json row = {{"repo_id", line.repo->repo.id}, {"repo_type", name_of(line.repo->repo.type)}};
    row.update(described(*line.revision));
    out.push_back(std::move(row));
  }
  return out;
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string refs_of(const ListedLine& line) {
  const std::string refs = comma_list(line.refs());
  return line.is_synthetic() ? refs + (refs.empty() ? "(synthetic)" : " (synthetic)") : refs;
}

void print_table(const std::vector<ListedLine>& lines, bool of_revisions, FileTime now) {
  std::vector<std::vector<std::string>> rows;
  for (const ListedLine& line : lines)
    rows.push_back(
        {line.repo->repo.id, std::string(name_of(line.repo->repo.type)),
         of_revisions ? line.revision->commit.substr(0, 12) : std::to_string(line.repo->revisions.size()),
         refs_of(line), std::to_string(line.files()), human_size(line.bytes()),
         time_ago(line.last_used(), now), time_ago(line.last_modified(), now)});
  constexpr auto kRight = Column::Align::right;
  print_out(format_table({{"REPO_ID"},
                          {"TYPE"},
                          of_revisions ? Column{"REVISION"} : Column{"REVISIONS", kRight},
                          {"REFS"},
                          {"FILES", kRight},
                          {"SIZE", kRight},
                          {"USED"},
                          {"MODIFIED"}},
                         rows));
}

void note(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

// What the table has no column for.
void print_notes(const CacheContents& cache) {
  std::uint64_t unreferenced = 0, partial = 0;
  for (const CachedRepo& repo : cache.repos) {
    for (const std::string& problem : repo.problems) note(escaped(repo.repo.id) + ": " + problem);
    unreferenced += repo.unreferenced_bytes;
    partial += repo.partial_bytes;
  }
  for (const std::string& problem : cache.problems) note(problem);
  if (unreferenced > 0) note(human_size(unreferenced) + " that no revision needs: hfcache prune removes it");
  if (partial > 0) note(human_size(partial) + " of unfinished downloads");
}

int run_ls(const LsOptions& options) {
  std::vector<LineFilter> filters;
  for (const std::string& text : options.filters) filters.push_back(LineFilter::parse(text));
  std::optional<LineOrder> order;
  if (!options.sort.empty()) order = LineOrder::parse(options.sort);

  const CacheContents cache = contents_of(cache_of(options));
  const FileTime now = std::chrono::system_clock::now();
  std::vector<ListedLine> lines = lines_of(cache.repos, options.revisions ? LineOf::revision : LineOf::repo);
  std::erase_if(lines, [&](const ListedLine& line) {
    return !std::all_of(filters.begin(), filters.end(), [&](const auto& f) { return f.matches(line, now); });
  });
  if (order) order->sort(lines);
  if (options.limit && lines.size() > *options.limit) lines.resize(*options.limit);

  if (options.json)
    print_json(described(lines));
  else
    print_table(lines, options.revisions, now);
  if (options.quiet) return 0;
  if (!options.json && filters.empty() && !cache.repos.empty())
    note(std::to_string(cache.repos.size()) +
         (cache.repos.size() == 1 ? " repository, " : " repositories, ") + human_size(cache.bytes) +
         " on the disk");
  print_notes(cache);
  return 0;
}

constexpr const char* kDetail =
    "One line a repository, or with --revisions one a revision. The size is that of the contents, what "
    "revisions "
    "share counted once; a time of use is that of the last access to a content, as far as the file system "
    "keeps "
    "it.\n\n"
    "A filter is a comparison: size>1GB, files<=3, used>30d (not used for longer), modified<2h, "
    "type=dataset, "
    "id=acme/*, refs=main, commit=0a1b*; or one of the words detached (no branch or tag stands for it), "
    "partial and "
    "problems. All filters must hold.\n\n"
    "JSON: an array with an object a line; bytes are integers, times UTC as 2026-11-30T12:00:00Z. What is "
    "wrong "
    "with a repository is under \"problems\", and on standard error.";

}  // namespace

Command ls_command() {
  const auto o = std::make_shared<LsOptions>();
  return {.name = "ls",
          .about = "List what is in the cache",
          .detail = kDetail,
          .examples = {"hfcache ls", "hfcache ls --sort size --limit 10",
                       "hfcache ls --revisions --filter detached",
                       "hfcache ls --filter 'used>30d' --filter type=model --json",
                       "hfcache ls --cache-dir /mnt/models"},
          .exits = exits_of({0, 2, 3, 8}),
          .arguments = joined(
              {{flag("-r,--revisions", o->revisions, "One line a revision"),
                option("-f,--filter", "EXPR", o->filters, "Only what this holds for; may be repeated"),
                option("-s,--sort", "KEY", o->sort,
                       "name, size, files, used or modified; :asc or :desc behind it turns the order round"),
                number("-n,--limit", "N", o->limit, "At most so many lines")},
               common_rows(*o)}),
          .run = [o] { return run_ls(*o); }};
}

}  // namespace hf::cache
