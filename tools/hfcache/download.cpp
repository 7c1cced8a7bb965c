#include "cache/mirror/download.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/escape.h"
#include "cache/hub/credentials.h"
#include "tools/hfcache/commands.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct DownloadOptions : CommonOptions, RepoOptions {
  std::vector<std::string> files, include, exclude;
  bool force = false, dry_run = false;
  std::optional<unsigned> max_workers;
  std::uint64_t checkpoint_bytes = 1u << 20;
  std::optional<std::filesystem::path> token_file;
};

constexpr std::string_view kStateNames[] = {"missing", "in blobs", "present"};  // by FileState

DownloadRequest request_of(const DownloadOptions& options) {
  DownloadRequest request{.repo = repo_of(options),
                          .revision = options.revision,
                          .selection = {options.files, options.include, options.exclude},
                          .force = options.force,
                          .workers = options.max_workers.value_or(0),
                          .block_bytes = options.checkpoint_bytes};
  if (!options.files.empty() && (!options.include.empty() || !options.exclude.empty()))
    throw Error(ErrorKind::usage,
                "FILE: names the files by itself, --include and --exclude cannot be given with it");
  return request;
}

nlohmann::ordered_json described(const DownloadRequest& request, const DownloadPlan& plan) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const PlannedFile& planned : plan.files)
    files.push_back({{"path", planned.file.path},
                     {"size", planned.file.size},
                     {"etag", planned.file.etag()},
                     {"state", kStateNames[static_cast<std::size_t>(planned.state)]},
                     {"resumable_bytes", planned.resumable_bytes}});
  return {{"repo_id", request.repo.id},        {"repo_type", name_of(request.repo.type)},
          {"revision", request.revision},      {"commit", plan.commit},
          {"total_bytes", plan.total_bytes()}, {"bytes_to_fetch", plan.bytes_to_fetch()},
          {"files", std::move(files)}};
}

std::string action_of(const PlannedFile& planned) {
  if (planned.state == FileState::present) return "is there";
  if (planned.state == FileState::in_blobs) return "link";
  if (planned.resumable_bytes == 0) return "fetch";
  return "fetch from " + human_size(planned.resumable_bytes) + " on";
}

void print_plan(const DownloadPlan& plan) {
  std::vector<std::vector<std::string>> rows;
  for (const PlannedFile& planned : plan.files)
    rows.push_back({planned.file.path, human_size(planned.file.size), action_of(planned)});
  print_out(format_table({{"FILE"}, {"SIZE", Column::Align::right}, {"ACTION"}}, rows));
  print_out(std::to_string(plan.files.size()) + " files, " + human_size(plan.total_bytes()) + ", of which " +
            human_size(plan.bytes_to_fetch()) + " to fetch\n");
}

int report(const DownloadOptions& options, const std::filesystem::path& path,
           nlohmann::ordered_json description) {
  if (options.json) {
    description["path"] = path.string();
    print_json(description);
  } else {
    print_out(path.string() + "\n");
  }
  return 0;
}

int download_offline(const DownloadOptions& options, const DownloadRequest& request, const Store& store) {
  if (options.dry_run || options.force)
    throw Error(ErrorKind::usage, "HF_HUB_OFFLINE: is set, --dry-run and --force-download need the Hub");
  const std::filesystem::path path = find_downloaded(store, request);
  return report(options, path,
                {{"repo_id", request.repo.id},
                 {"repo_type", name_of(request.repo.type)},
                 {"revision", request.revision},
                 {"commit", path.filename().string()}});
}

// One bar for all bytes.
class BarEvents : public DownloadEvents {
 public:
  explicit BarEvents(Progress& bar) : bar_(bar) {}
  ~BarEvents() override {
    if (begun_) bar_.end();
  }
  void planned(const DownloadRequest& request, const DownloadPlan& plan) override {
    if (plan.bytes_to_fetch() == 0) return;
    bar_.begin(request.repo.id, plan.bytes_to_fetch());
    begun_ = true;
  }
  void advanced(const TreeFile&, std::uint64_t bytes) override {
    if (begun_) bar_.advance(bytes);
  }

 private:
  Progress& bar_;
  bool begun_ = false;
};

ClientOptions options_for(const Environment& environment) {
  ClientOptions options = client_options(environment);
  options.user_agent = "hfcache/" + std::string(program_version());
  if (environment.is_on("HF_DEBUG"))
    options.trace = [](std::string_view line) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
  return options;
}

int run_download(const DownloadOptions& options) {
  const Environment environment = Environment::of_process();
  const DownloadRequest request = request_of(options);
  const Store store = Store::of(environment, options.cache_dir);
  if (is_offline(environment)) return download_offline(options, request, store);

  Client client(options_for(environment));
  const Hub hub(client, endpoint(environment), token(environment, options.token_file));
  const DownloadPlan plan = plan_download(hub, store, request);
  if (options.dry_run) {
    if (options.json)
      print_json(described(request, plan));
    else
      print_plan(plan);
    return 0;
  }
  const auto target = make_target(store, request, plan);
  BarEvents events(terminal_progress(options.quiet));
  const DownloadReport done = download(hub, *target, request, plan, events);
  return report(options, done.path, described(request, plan));
}

}  // namespace

Command download_command() {
  const auto o = std::make_shared<DownloadOptions>();
  return {
      .name = "download",
      .about = "Bring a revision of a repository into the cache",
      .detail = "Prints the path of the snapshot. A download that was broken off goes on where it stopped.",
      .examples = {"hfcache download openai-community/gpt2 --revision main",
                   "hfcache download openai-community/gpt2 config.json tokenizer.json",
                   "hfcache download openai-community/gpt2 --include '*.safetensors' --dry-run",
                   "hfcache download stanfordnlp/imdb --repo-type dataset --json"},
      .exits = exits_of({0, 2, 3, 4, 5, 6, 8, 130}),
      .arguments =
          joined({repo_rows(*o),
                  {positional("FILE", o->files, "Only these files; \"folder/\" for all in it"),
                   option("--include", "GLOB", o->include, "Only files that match; * also matches /"),
                   option("--exclude", "GLOB", o->exclude, "No files that match"),
                   flag("--force-download", o->force, "Fetch also what is in the cache"),
                   flag("--dry-run", o->dry_run, "Only show what would be done"),
                   number("--max-workers", "N", o->max_workers,
                          "Connections at a time, where fewer are wanted than the server takes", 1, 256),
                   number("--checkpoint-bytes", "N", o->checkpoint_bytes,
                          "Of a large file at most so much is fetched again after a crash", 1 << 12, 1 << 30),
                   option("--token-file", "FILE", o->token_file,
                          "File with the token, instead of HF_TOKEN and the stored login")
                       .completed_as(Completes::file)},
                  common_rows(*o)}),
      .run = [o] { return run_download(*o); }};
}

}  // namespace hf::cache
