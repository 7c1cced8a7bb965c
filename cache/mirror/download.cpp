#include "cache/mirror/download.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "cache/mirror/cache_target.h"
#include "cache/mirror/leftovers.h"
#include "cache/mirror/local_target.h"
#include "cache/mirror/scheduler.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

std::string subject_of(const DownloadRequest& request) {
  return std::string(name_of(request.repo.type)) + " " + escaped(request.repo.id) + ", revision " +
         escaped(request.revision);
}

// The name that the cache is to know the commit by; empty: none.
std::string ref_of(const DownloadRequest& request) {
  if (request.ref) return *request.ref;
  return is_commit(request.revision) ? "" : request.revision;
}

// With the repository's place in the cache, which it copies from.
struct PlaceInCache {
  RepoFolder cache;
};
class LocalDownload : private PlaceInCache, public LocalTarget {
 public:
  LocalDownload(const Store& store, const DownloadRequest& request, const DownloadPlan& plan)
      : PlaceInCache{RepoFolder(store, request.repo)},
        LocalTarget(*request.local_dir, PlaceInCache::cache, plan.commit, list_of(plan)) {}

 private:
  static std::optional<std::vector<TreeFile>> list_of(const DownloadPlan& plan) {
    if (plan.tree.empty() && !plan.files.empty()) return std::nullopt;  // only some were asked about
    return plan.tree;
  }
};

// Then nothing is written at all: a cache may be mounted read-only.
bool is_all_there(const Target& target, const DownloadRequest& request, const DownloadPlan& plan) {
  const auto is_present = [](const PlannedFile& planned) { return planned.state == FileState::present; };
  return std::all_of(plan.files.begin(), plan.files.end(), is_present) && target.is_finished(ref_of(request));
}

void check_room(const fs::path& folder, std::uint64_t bytes, std::size_t files) {
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return;  // a file system that does not tell
  const std::uint64_t room = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  const std::uint64_t names = files * 8192;  // inodes, folders, the last block of each file
  if (bytes > room || names > room - bytes)
    throw Error(ErrorKind::io, escaped(folder.string(), 4096) + ": has room for " + std::to_string(room) +
                                   " bytes, the download needs " + std::to_string(bytes));
}

std::uint64_t asked(const Hub& hub) {
  const Client::Statistics& so_far = hub.client().statistics();
  return so_far.requests - so_far.redirects;
}

}  // namespace

std::uint64_t DownloadPlan::total_bytes() const {
  std::uint64_t bytes = 0;
  for (const PlannedFile& planned : files) bytes += planned.file.size;
  return bytes;
}

std::uint64_t DownloadPlan::bytes_to_fetch() const {
  std::uint64_t bytes = 0;
  for (const Job& job : jobs_of(*this)) bytes += job.file().size - job.resumable_bytes;
  return bytes;
}

std::unique_ptr<Target> make_target(const Store& store, const DownloadRequest& request,
                                    const DownloadPlan& plan) {
  if (request.local_dir) return std::make_unique<LocalDownload>(store, request, plan);
  return std::make_unique<CacheTarget>(store, request.repo, plan.commit, plan.tree);
}

DownloadPlan plan_download(const Hub& hub, const Store& store, const DownloadRequest& request) {
  DownloadPlan plan;
  const std::uint64_t before = asked(hub);
  plan.commit = hub.commit_of(request.repo, request.revision);
  plan.tree = hub.tree(request.repo, plan.commit);
  plan.api_requests = asked(hub) - before;
  const auto target = make_target(store, request, plan);
  const Leftovers leftovers = find_leftovers(target->parts());
  for (TreeFile& file : select(plan.tree, request.selection, subject_of(request))) {
    PlannedFile planned{std::move(file)};
    if (!request.force) planned.state = target->state_of(planned.file);
    const auto [begin, end] = leftovers.equal_range(planned.file.etag());
    for (auto at = begin; at != end; ++at)
      planned.resumable_bytes =
          std::max(planned.resumable_bytes, std::min(at->second.bytes, planned.file.size));
    plan.files.push_back(std::move(planned));
  }
  return plan;
}

DownloadReport download(const Hub& hub, Target& target, const DownloadRequest& request,
                        const DownloadPlan& plan, DownloadEvents& events) {
  DownloadReport report;
  report.api_requests = plan.api_requests;
  events.planned(request, plan);
  if (is_all_there(target, request, plan)) {
    report.path = target.path();
    return report;
  }
  target.prepare();
  check_room(target.parts(), plan.bytes_to_fetch(), plan.files.size());
  {
    Scheduler scheduler(hub, target, request, plan, events, report);
    scheduler.run();
  }
  report.path = target.finish(ref_of(request));
  return report;
}

fs::path find_downloaded(const Store& store, const DownloadRequest& request) {
  fs::path snapshot = store.snapshot(request.repo, request.revision);
  const std::string commit = snapshot.filename().string();
  const RepoFolder folder(store, request.repo);
  const auto tree = folder.read_tree(commit);
  std::string missing;
  std::size_t count = 0;
  const auto note = [&](const std::string& path) {
    if (++count <= 5) missing += (missing.empty() ? "" : ", ") + in_quotes(path);
  };
  if (tree) {
    for (const TreeFile& file : select(*tree, request.selection, subject_of(request)))
      if (!folder.has_file(commit, file)) note(file.path);
  } else {  // downloaded by a program that keeps no list: only what is named can be looked for
    std::error_code ignored;
    for (const std::string& file : request.selection.files)
      if (!fs::exists(snapshot / file, ignored)) note(file);
  }
  if (count > 0)
    throw Error(ErrorKind::not_found, subject_of(request) + ": " + std::to_string(count) +
                                          " files are not in " + escaped(snapshot.string(), 4096) + ": " +
                                          missing + (count > 5 ? ", …" : ""));
  return snapshot;
}

}  // namespace hf::cache
