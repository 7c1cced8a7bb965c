#include "cache/store/verify.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/credentials.h"
#include "cache/mirror/repair.h"
#include "tools/hfcache/commands.h"
#include "tools/hfcache/remote.h"
#include "tools/hfcache/token_input.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct VerifyOptions : CommonOptions {
  std::vector<std::string> repo_ids;  // none: all of the cache
  std::string repo_type;
  std::optional<std::string> revision;
  std::optional<std::filesystem::path> local_dir, token_file;
  bool strict = false, complete = false, repair = false;
  std::optional<unsigned> jobs;
};

constexpr Verdict kVerdicts[] = {Verdict::ok, Verdict::wrong, Verdict::missing, Verdict::unverifiable};

VerifyRequest request_of(const VerifyOptions& options) {
  VerifyRequest request{
      .revision = options.revision, .complete = options.complete, .threads = options.jobs.value_or(0)};
  for (const std::string& id : options.repo_ids)
    request.repos.push_back(repo_of({id, options.repo_type, options.revision.value_or("main")}));
  return request;
}

void check_options(const VerifyOptions& options) {
  if (options.revision && (options.repo_ids.empty() || options.local_dir))
    throw Error(ErrorKind::usage, "--revision: is of a repository, REPO_ID is expected with it");
  if (options.local_dir && options.cache_dir)
    throw Error(ErrorKind::usage, "--local-dir: is a folder by itself, --cache-dir cannot be given with it");
  if (options.local_dir && options.repo_ids.size() != (options.repair ? 1 : 0))
    throw Error(ErrorKind::usage,
                options.repair ? "--repair: of a folder needs REPO_ID, which its notes do not tell"
                               : "--local-dir: is a folder by itself, REPO_ID is only given with --repair");
  if (options.repair) require_online(Environment::of_process(), "--repair");
}

bool is_right(const VerifyReport& report) {
  return report.count(Verdict::wrong) == 0 && report.count(Verdict::missing) == 0;
}

VerifyReport checked(const VerifyOptions& options, const VerifyRequest& request) {
  Progress& progress = terminal_progress(options.quiet);
  if (options.local_dir) return verify_folder(*options.local_dir, request, progress);
  const Store store = Store::of(Environment::of_process(), options.cache_dir);
  std::error_code ignored;
  if (options.cache_dir && !std::filesystem::exists(store.root(), ignored))
    throw Error(ErrorKind::not_found, shown(store.root()) + ": there is no such folder");
  return verify(store, request, progress);
}

// Twice at most: a ref that led nowhere brings a whole revision, whose content has not been looked at before.
void repair_all(const VerifyOptions& options, VerifyRequest request, VerifyReport& report) {
  const Environment environment = Environment::of_process();
  Client client(remote_options(environment));
  const Hub hub(client, endpoint(environment), token_for(environment, options.token_file));
  const Store store = Store::of(environment, options.cache_dir);
  Progress& progress = terminal_progress(options.quiet);
  if (is_right(report) && !options.local_dir) repair(hub, store, report, progress);  // takes leftovers away
  for (int round = 0; round < 2 && !is_right(report); ++round) {
    const auto failures =
        options.local_dir ? repair_folder(hub, store, *options.local_dir, request.repos[0], report, progress)
                          : repair(hub, store, report, progress);
    const VerifyReport before = std::move(report);
    request.before = &before;
    report = checked(options, request);
    report.bytes_read += before.bytes_read;
    for (const std::string& failure : failures) std::fprintf(stderr, "hfcache: %s\n", failure.c_str());
    if (!failures.empty()) return;
  }
}

std::string id_of(const CheckedRepo& repo) { return repo.repo ? repo.repo->id : repo.folder; }

std::uint64_t count_left_out(const VerifyReport& report) {
  std::uint64_t count = 0;
  for (const CheckedRepo& repo : report.repos)
    for (const auto& [commit, files] : repo.left_out) count += files;
  return count;
}

nlohmann::ordered_json described(const CheckedRepo& repo, const Checked& file) {
  nlohmann::ordered_json out;
  if (repo.repo) {
    out["repo_id"] = repo.repo->id;
    out["repo_type"] = name_of(repo.repo->type);
  } else {
    out["folder"] = repo.folder;
  }
  out["path"] = file.path;
  if (!file.names.empty() || repo.repo) {
    auto& names = out["names"] = nlohmann::ordered_json::array();
    for (const std::string& name : file.names)
      names.push_back({{"commit", name.substr(0, 40)}, {"path", name.substr(41)}});
  }
  out["etag"] = file.etag;
  out["bytes"] = file.bytes;
  out["verdict"] = name_of(file.verdict);
  if (!file.why.empty()) out["why"] = file.why;
  return out;
}

void print_report_json(const VerifyReport& report) {
  nlohmann::ordered_json summary, files = nlohmann::ordered_json::array();
  for (const Verdict verdict : kVerdicts) summary[std::string(name_of(verdict))] = report.count(verdict);
  summary["left_out"] = count_left_out(report);
  summary["bytes_read"] = report.bytes_read;
  for (const CheckedRepo& repo : report.repos)
    for (const Checked& file : repo.files) files.push_back(described(repo, file));
  print_json({{"summary", std::move(summary)}, {"files", std::move(files)}});
}

// The name that a user knows a content by: the first of the files that it stands for.
std::string shown_name(const Checked& file) {
  if (file.names.empty()) return file.path;
  std::string name = file.names[0].substr(0, 12) + file.names[0].substr(40);
  if (file.names.size() > 1) name += " and " + std::to_string(file.names.size() - 1) + " more";
  return name;
}

void print_report(const VerifyReport& report) {
  std::vector<std::vector<std::string>> rows;
  std::size_t files = 0;
  for (const CheckedRepo& repo : report.repos) {
    files += repo.files.size();
    for (const Checked& file : repo.files)
      if (file.verdict != Verdict::ok)
        rows.push_back({std::string(name_of(file.verdict)), id_of(repo), shown_name(file), file.why});
  }
  if (!rows.empty()) print_out(format_table({{"VERDICT"}, {"REPO_ID"}, {"FILE"}, {"WHY"}}, rows));
  std::string summary = std::to_string(files) + " files, " + human_size(report.bytes_read) + " read: ";
  for (const Verdict verdict : kVerdicts)
    if (const std::uint64_t count = report.count(verdict); count > 0 || verdict == Verdict::ok)
      summary +=
          (verdict == Verdict::ok ? "" : ", ") + std::to_string(count) + " " + std::string(name_of(verdict));
  print_out(summary + "\n");
}

void print_notes(const VerifyReport& report) {
  for (const CheckedRepo& repo : report.repos)
    for (const auto& [commit, files] : repo.left_out)
      std::fprintf(stderr,
                   "%s: %llu files on the list of revision %s were not downloaded, --complete counts them\n",
                   escaped(id_of(repo), 4096).c_str(), static_cast<unsigned long long>(files),
                   commit.substr(0, 12).c_str());
}

int run_verify(const VerifyOptions& options) {
  const VerifyRequest request = request_of(options);
  check_options(options);
  VerifyReport report = checked(options, request);
  if (options.repair) repair_all(options, request, report);
  if (options.json)
    print_report_json(report);
  else
    print_report(report);
  if (!options.json && !options.quiet) print_notes(report);
  const bool is_told = !options.strict || report.count(Verdict::unverifiable) == 0;
  return is_right(report) && is_told ? 0 : 1;
}

}  // namespace

Command verify_command() {
  const auto o = std::make_shared<VerifyOptions>();
  return {.name = "verify",
          .about = "Check that the cache holds what its names say",
          .detail =
              "Reads every content once and compares it with the hash that it is named by, and the snapshots "
              "with "
              "the lists of their revisions; needs no network. Each is ok, wrong, missing or unverifiable: "
              "nothing "
              "tells its hash.",
          .examples = {"hfcache verify", "hfcache verify openai-community/gpt2 --revision main --json",
                       "hfcache verify --repair", "hfcache verify --local-dir ./gpt2",
                       "hfcache verify --local-dir ./gpt2 --repair openai-community/gpt2"},
          .exits = exits_of({0, 1, 2, 3, 6, 8, 130}, {{1, "Something is wrong or missing"}}),
          .arguments = joined(
              {{positional("REPO_ID", o->repo_ids, "Only these repositories").completed_as(Completes::repo),
                option("--repo-type", "TYPE", o->repo_type, "Type of the repositories")
                    .of({"model", "dataset", "space"})
                    .shown_default("model"),
                option("--revision", "R", o->revision, "Only what this branch, tag or commit needs"),
                option("--local-dir", "DIR", o->local_dir,
                       "A folder that was downloaded into, instead of the cache")
                    .completed_as(Completes::folder),
                flag("--complete", o->complete, "Files of a revision that were never downloaded are missing"),
                flag("--strict", o->strict, "Exit code 1 also when something is unverifiable"),
                flag("--repair", o->repair, "Fetch from the Hub what is wrong or missing"),
                number("-j,--jobs", "N", o->jobs, "Files read at a time; one a core where it is not given", 1,
                       256),
                token_file_row(o->token_file)},
               common_rows(*o)}),
          .run = [o] { return run_verify(*o); }};
}

}  // namespace hf::cache
