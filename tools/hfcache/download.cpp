#include "cache/mirror/download.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/escape.h"
#include "base/file.h"
#include "base/quantity.h"
#include "cache/hub/credentials.h"
#include "tools/hfcache/commands.h"
#include "tools/hfcache/download_run.h"
#include "tools/hfcache/json_events.h"
#include "tools/hfcache/remote.h"
#include "tools/hfcache/repo_list.h"
#include "tools/hfcache/token_input.h"
#include "tools/program/program.h"
#include "tools/program/standard_input.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostListBytes = 16 << 20;

struct DownloadOptions : CommonOptions, RepoOptions {
  std::vector<std::string> files, include, exclude;
  std::string list;  // of repositories
  std::optional<std::string> ref;
  std::optional<fs::path> local_dir, token_file;
  bool force = false, dry_run = false, portable = false;
  std::optional<unsigned> max_workers;
  std::uint64_t checkpoint_bytes = 1u << 20, limit_rate = 0;
};

DownloadRequest request_of(const DownloadOptions& options) {
  if (!options.files.empty() && (!options.include.empty() || !options.exclude.empty()))
    throw Error(ErrorKind::usage,
                "FILE: names the files by itself, --include and --exclude cannot be given with it");
  if (options.ref) check_revision(*options.ref);
  return {.repo = repo_of(options),
          .revision = options.revision,
          .ref = options.ref,
          .local_dir = options.local_dir,
          .selection = {options.files, options.include, options.exclude},
          .force = options.force,
          .portable = options.portable,
          .workers = options.max_workers.value_or(0),
          .block_bytes = options.checkpoint_bytes};
}

// What would be meant of all repositories of a list alike stands in its lines.
void check_list_options(const DownloadOptions& options) {
  const std::pair<bool, const char*> kNotTogether[] = {
      {!options.repo_id.empty(), "REPO_ID"},          {!options.include.empty(), "--include"},
      {!options.exclude.empty(), "--exclude"},        {options.revision != "main", "--revision"},
      {options.local_dir.has_value(), "--local-dir"}, {options.ref.has_value(), "--ref"}};
  for (const auto& [given, name] : kNotTogether)
    if (given) throw Error(ErrorKind::usage, std::string(name) + ": cannot be given with --from");
  if (options.list == "-" && options.token_file == "-")
    throw Error(ErrorKind::usage, "--token-file: standard input has the list already");
}

std::vector<DownloadJob> listed_jobs(const DownloadOptions& options) {
  check_list_options(options);
  const bool input = options.list == "-";
  const std::string subject = input ? "standard input" : escaped(options.list, 4096);
  const std::string text =
      input ? read_standard_input(kMostListBytes) : read_text(options.list, kMostListBytes);
  std::vector<DownloadJob> jobs;
  std::string problems;
  for (const ListedRepo& listed : parse_repo_list(text, subject)) {
    DownloadOptions one = options;
    one.repo_id = listed.repo_id;
    if (!listed.revision.empty()) one.revision = listed.revision;
    one.files = listed.files;
    one.include = listed.globs;
    const std::string where = subject + ", line " + std::to_string(listed.line);
    try {
      jobs.push_back({.where = where, .request = request_of(one)});
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\n") + where + ": " + error.what();
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems);
  return jobs;
}

std::vector<DownloadJob> jobs_of(const DownloadOptions& options) {
  if (!options.list.empty()) return listed_jobs(options);
  if (options.repo_id.empty())
    throw Error(ErrorKind::usage,
                "REPO_ID: is missing, or a list of them with --from\nSee `hfcache download "
                "--help`.");
  return {{.where = "", .request = request_of(options)}};
}

int run_offline(const DownloadOptions& options, std::vector<DownloadJob> jobs, const Store& store) {
  const char* variable = offline_variable(Environment::of_process());
  for (const auto& [given, name] :
       {std::pair{options.dry_run, "--dry-run"}, {options.force, "--force-download"}})
    if (given) throw Error(ErrorKind::usage, std::string(variable) + ": is set, " + name + " needs the Hub");
  const char* root = options.cache_dir ? "--cache-dir" : cache_root_variable(Environment::of_process());
  const std::string where = std::string(variable) + " is set, and " +
                            (root != nullptr ? root : "no variable") + " leads to the cache " +
                            shown(store.root());
  Failures failures(jobs);
  for (DownloadJob& job : jobs) {
    failures.collect(job, [&] {
      const fs::path path = with_context(where, [&] { return find_downloaded(store, job.request); });
      if (options.json)
        tell_done(job.request, path.filename().string(), {.path = path});
      else
        print_out(path.string() + "\n");
    });
  }
  failures.raise();
  return 0;
}

int run_online(const DownloadOptions& options, std::vector<DownloadJob> jobs, const Store& store) {
  const Environment environment = Environment::of_process();
  ClientOptions client = remote_options(environment);
  client.bytes_per_second = options.limit_rate;
  if (options.max_workers) {
    client.most_connections = std::min<std::size_t>(client.most_connections, *options.max_workers);
    client.most_streams = std::min<std::size_t>(client.most_streams, *options.max_workers);
  }
  DownloadRun run(std::move(client), store, std::move(jobs), {.json = options.json, .quiet = options.quiet});
  run.plan(endpoint(environment), token_for(environment, options.token_file));
  if (options.dry_run)
    run.show_plans();
  else
    run.fetch();
  return 0;
}

int run_download(const DownloadOptions& options) {
  try {
    std::vector<DownloadJob> jobs = jobs_of(options);
    const Environment environment = Environment::of_process();
    const Store store = Store::of(environment, options.cache_dir);
    return is_offline(environment) ? run_offline(options, std::move(jobs), store)
                                   : run_online(options, std::move(jobs), store);
  } catch (const Error& error) {
    if (options.json) tell_error(nullptr, error);
    throw;
  }
}

std::vector<Argument> selection_rows(DownloadOptions& o) {
  Argument rate = named("--limit-rate", "RATE", "Bytes a second at most, as 500k, 20M or 1.5GB");
  rate.expected = "an amount such as 20M";
  rate.take = [&o](const std::string& text) {
    const auto bytes = parse_bytes(text.ends_with("/s") ? text.substr(0, text.size() - 2) : text);
    o.limit_rate = bytes.value_or(0);
    return o.limit_rate > 0;
  };
  Argument list = option("--from", "LIST", o.list, "File with a repository a line, \"-\" for standard input");
  list.take = [&o](const std::string& text) { return !(o.list = text).empty(); };
  list.expected = "a name";
  return {positional("FILE", o.files, "Only these files; \"folder/\" for all in it"),
          option("--include", "GLOB", o.include, "Only files that match; * also matches /"),
          option("--exclude", "GLOB", o.exclude, "No files that match"),
          list.completed_as(Completes::file),
          option("--ref", "NAME", o.ref, "Name that the cache knows the revision by, also for a commit"),
          option("--local-dir", "DIR", o.local_dir, "Put the files themselves here, not into the cache")
              .completed_as(Completes::folder),
          flag("--force-download", o.force, "Fetch also what is there"),
          flag("--portable", o.portable, "Refuse names that other systems do not take, instead of warning"),
          flag("--dry-run", o.dry_run, "Only show what would be done"),
          rate,
          number("--max-workers", "N", o.max_workers,
                 "Connections at a time, where fewer are wanted than the server takes", 1, 256),
          number("--checkpoint-bytes", "N", o.checkpoint_bytes,
                 "Of a large file at most so much is fetched again after a crash", 1 << 12, 1 << 30),
          token_file_row(o.token_file)};
}

}  // namespace

Command download_command() {
  const auto o = std::make_shared<DownloadOptions>();
  std::vector<Argument> repo = repo_rows(*o);
  repo[0].required = false;  // --from stands for it
  return {.name = "download",
          .about = "Bring revisions of repositories into the cache",
          .detail =
              "Prints the path of the snapshot. A download that was broken off goes on where it stopped. A "
              "revision that is a commit gets no name in the cache but by --ref.\n\n"
              "A list has a line a repository: [TYPE/]NAMESPACE/NAME[@REVISION], then names of files or "
              "globs; # begins a comment. All of it is planned before the first byte is fetched.\n\n"
              "With --json each event is an object on a line of its own: plan, file_start, progress, retry, "
              "file_done, warning, error, done (docs/json-events.md).",
          .examples = {"hfcache download openai-community/gpt2 --revision main",
                       "hfcache download openai-community/gpt2 config.json tokenizer.json",
                       "hfcache download openai-community/gpt2 --include '*.safetensors' --dry-run",
                       "hfcache download datasets/stanfordnlp/imdb --limit-rate 20M",
                       "hfcache download openai-community/gpt2 --local-dir gpt2",
                       "hfcache download --from models.txt --json"},
          .exits = exits_of({0, 2, 3, 4, 5, 6, 8, 130}),
          .arguments = joined({repo, selection_rows(*o), common_rows(*o)}),
          .run = [o] { return run_download(*o); }};
}

}  // namespace hf::cache
