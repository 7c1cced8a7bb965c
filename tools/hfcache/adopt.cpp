#include "cache/mirror/adopt.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/credentials.h"
#include "tools/hfcache/commands.h"
#include "tools/hfcache/remote.h"
#include "tools/hfcache/token_input.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct AdoptOptions : CommonOptions {
  std::vector<std::filesystem::path> paths;
  std::optional<std::string> repo_id, revision, ref;
  std::string repo_type;
  bool synthetic = false, move = false, link = false, dry_run = false;
  std::optional<unsigned> jobs;
  std::optional<std::filesystem::path> token_file;
};

constexpr std::string_view kActions[] = {"copy", "move", "link"};  // by AdoptMode

AdoptRequest request_of(const AdoptOptions& options) {
  AdoptRequest request{
      .ref = options.ref, .synthetic = options.synthetic, .threads = options.jobs.value_or(0)};
  if (options.repo_id) request.repo = repo_of({*options.repo_id, options.repo_type});
  if (options.revision && !is_commit(*options.revision))
    throw Error(ErrorKind::usage, "--revision: is " + in_quotes(*options.revision) +
                                      ", a commit of 40 hex digits is expected; --ref names a branch or tag");
  if (options.ref) check_revision(*options.ref);
  request.commit = options.revision;
  if (options.move && options.link)
    throw Error(ErrorKind::usage, "--move, --link: only one of them can be given");
  request.mode = options.move ? AdoptMode::move : options.link ? AdoptMode::link : AdoptMode::copy;
  return request;
}

// Asks the Hub only where it may and where a source does not tell by itself.
class Planner {
 public:
  explicit Planner(const AdoptOptions& options)
      : environment_(Environment::of_process()), store_(Store::of(environment_, options.cache_dir)) {
    if (is_offline(environment_)) return;
    client_.emplace(remote_options(environment_));
    hub_.emplace(*client_, endpoint(environment_), token_for(environment_, options.token_file));
  }

  AdoptPlan plan(const std::filesystem::path& path, const AdoptRequest& request, Progress& progress) const {
    return plan_adopt(path, store_, request, hub_ ? &*hub_ : nullptr, progress);
  }
  const Store& store() const { return store_; }

 private:
  const Environment environment_;
  const Store store_;
  std::optional<Client> client_;
  std::optional<Hub> hub_;
};

nlohmann::ordered_json described(const AdoptedRevision& revision, const Store& store) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const AdoptedFile& file : revision.files) {
    auto& entry = files.emplace_back(nlohmann::ordered_json{{"path", file.file.path},
                                                            {"source", file.source.string()},
                                                            {"size", file.file.size},
                                                            {"etag", file.file.etag()},
                                                            {"sha256", file.sha256}});
    if (!file.fault.empty()) entry["why"] = file.fault;
  }
  nlohmann::ordered_json out = {{"repo_id", revision.repo.id}, {"repo_type", name_of(revision.repo.type)},
                                {"commit", revision.commit},   {"synthetic", revision.is_synthetic},
                                {"refs", revision.refs},       {"taken", revision.is_taken()}};
  if (revision.is_taken())
    out["path"] = (store.folder(revision.repo) / "snapshots" / revision.commit).string();
  else
    out["why"] = revision.refusal;
  out["files"] = std::move(files);
  return out;
}

void print_plans_json(const std::vector<AdoptPlan>& plans, const Store& store, bool dry_run) {
  nlohmann::ordered_json revisions = nlohmann::ordered_json::array(), left = nlohmann::ordered_json::array();
  for (const AdoptPlan& plan : plans) {
    for (const AdoptedRevision& revision : plan.revisions) revisions.push_back(described(revision, store));
    for (const LeftFile& file : plan.left)
      left.push_back({{"source", file.source.string()}, {"why", file.why}, {"fault", file.is_fault}});
  }
  print_json({{"dry_run", dry_run}, {"revisions", std::move(revisions)}, {"left", std::move(left)}});
}

void print_plans(const std::vector<AdoptPlan>& plans, AdoptMode mode, bool dry_run) {
  std::vector<std::vector<std::string>> rows;
  std::size_t files = 0, revisions = 0;
  std::uint64_t bytes = 0;
  for (const AdoptPlan& plan : plans) {
    for (const AdoptedRevision& revision : plan.revisions) {
      const bool is_taken = revision.is_taken();
      revisions += is_taken ? 1 : 0;
      files += is_taken ? revision.files.size() : 0;
      for (const AdoptedFile& file : revision.files) {
        bytes += is_taken ? file.file.size : 0;
        rows.push_back({is_taken ? std::string(kActions[static_cast<std::size_t>(mode)]) : "refuse",
                        revision.repo.id, revision.commit.substr(0, 12), file.file.path,
                        human_size(file.file.size), file.fault.empty() ? revision.refusal : file.fault});
      }
    }
    for (const LeftFile& file : plan.left)
      rows.push_back({"leave", "-", "-", file.source.string(), "-", file.why});
  }
  print_out(format_table(
      {{"ACTION"}, {"REPO_ID"}, {"REVISION"}, {"FILE"}, {"SIZE", Column::Align::right}, {"WHY"}}, rows));
  print_out(std::to_string(files) + " files of " + std::to_string(revisions) + " revisions, " +
            human_size(bytes) + (dry_run ? " to take over\n" : " taken over\n"));
}

int run_adopt(const AdoptOptions& options) {
  const AdoptRequest request = request_of(options);
  const Planner planner(options);
  Progress& progress = terminal_progress(options.quiet);
  std::vector<AdoptPlan> plans;
  bool is_whole = true;
  for (const std::filesystem::path& path : options.paths) {
    plans.push_back(planner.plan(path, request, progress));
    is_whole = is_whole && plans.back().is_whole();
    for (const std::string& warning : plans.back().warnings)
      if (!options.quiet) std::fprintf(stderr, "hfcache: warning: %s\n", warning.c_str());
  }
  if (!options.dry_run)
    for (const AdoptPlan& plan : plans) adopt(plan, planner.store(), request.mode, progress);
  if (options.json)
    print_plans_json(plans, planner.store(), options.dry_run);
  else
    print_plans(plans, request.mode, options.dry_run);
  return is_whole ? 0 : exit_code(ErrorKind::integrity);
}

}  // namespace

Command adopt_command() {
  const auto o = std::make_shared<AdoptOptions>();
  return {
      .name = "adopt",
      .about = "Take over into the cache what lies somewhere else",
      .detail =
          "PATH is a clone or any other folder of files, a folder that was downloaded into, another cache or "
          "a "
          "repository's folder of one, or the flat cache of transformers before 4.22. Every file is hashed; "
          "one "
          "that is not what the Hub, its revision's list, a note of its download or its name says is "
          "refused, "
          "and its revision with it.",
      .examples = {"hfcache adopt /media/courier/hub",
                   "hfcache adopt ./gpt2 --repo-id openai-community/gpt2 --dry-run",
                   "hfcache adopt ./gpt2 --repo-id openai-community/gpt2 --link "
                   "--revision 607a30d783dfa663caf39e06633721c8d4cfcd7e",
                   "hfcache adopt ./mine --repo-id acme/mine --synthetic-commit --move"},
      .exits =
          exits_of({0, 2, 3, 6, 8, 130}, {{6, "A file is not what it should be; the others were taken"}}),
      .arguments = joined(
          {{positional("PATH", o->paths, "Folders to take over").must().completed_as(Completes::folder),
            option("--repo-id", "REPO_ID", o->repo_id, "Whose files they are: needed for a folder of files")
                .completed_as(Completes::repo),
            option("--repo-type", "TYPE", o->repo_type, "Type of the repository")
                .of({"model", "dataset", "space"})
                .shown_default("model"),
            option("--revision", "COMMIT", o->revision, "What the files are a revision of: 40 hex digits"),
            option("--ref", "NAME", o->ref, "Branch or tag to write, instead of what PATH tells or main"),
            flag("--synthetic-commit", o->synthetic, "Make up a commit where nothing tells it; ls marks it"),
            flag("--move", o->move, "Remove the files from PATH when all is in the cache for good"),
            flag("--link", o->link, "Hard links instead of copies"),
            flag("--dry-run", o->dry_run, "Only show what would be done"),
            number("-j,--jobs", "N", o->jobs, "Files hashed at a time; one a core where it is not given", 1,
                   256),
            token_file_row(o->token_file)},
           common_rows(*o)}),
      .run = [o] { return run_adopt(*o); }};
}

}  // namespace hf::cache
