#include "cache/mirror/download.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/escape.h"
#include "cache/mirror/leftovers.h"
#include "cache/mirror/local_folder.h"
#include "cache/mirror/preflight.h"
#include "cache/mirror/scheduler.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

// Then nothing is written at all: a cache may be mounted read-only.
bool is_all_there(const Target& target, const DownloadRequest& request, const DownloadPlan& plan) {
  const auto is_present = [](const PlannedFile& planned) { return planned.state == FileState::present; };
  return std::all_of(plan.files.begin(), plan.files.end(), is_present) && target.is_finished(ref_of(request));
}

void check_first(const Target& target, const DownloadRequest& request, const DownloadPlan& plan,
                 DownloadEvents& events) {
  PreflightNeeds needs;
  needs.names_below = target.path();
  needs.portable = request.portable;
  if (request.local_dir) needs.longest_suffix = std::string_view(".metadata").size();
  std::set<std::string_view> contents;
  for (const PlannedFile& planned : plan.files) {
    const bool is_new = planned.state == FileState::missing && contents.insert(planned.file.etag()).second;
    const std::uint64_t left = is_new ? planned.file.size - planned.resumable_bytes : 0;
    needs.files.push_back(PreflightFile::of(planned.file, left, is_new));
  }
  for (const std::string& warning : preflight(needs, disk_facts(target.parts()))) events.warned(warning);
}

void clean_up(const Target& target, const DownloadPlan& plan) {
  std::set<std::string_view> contents;
  for (const PlannedFile& planned : plan.files) contents.insert(planned.file.etag());
  const fs::path parts = target.parts();
  remove_worthless_leftovers(parts, [&](const std::string& etag) {
    struct stat info {};
    return contents.contains(etag) || lstat((parts / etag).c_str(), &info) == 0;
  });
}

}  // namespace

DownloadReport download(const Hub& hub, Target& target, const DownloadRequest& request,
                        const DownloadPlan& plan, DownloadEvents& events) {
  DownloadReport report;
  report.api_requests = plan.api_requests;
  report.path = target.path();
  events.planned(request, plan);
  if (is_all_there(target, request, plan)) return report;
  check_first(target, request, plan, events);
  target.prepare();
  Scheduler(hub, target, request, plan, events, report).run();
  clean_up(target, plan);
  report.path = target.finish(ref_of(request));
  return report;
}

fs::path find_downloaded(const Store& store, const DownloadRequest& request) {
  if (request.local_dir)
    return find_local_folder(*request.local_dir, store, request.repo, request.revision, request.selection)
        .path;
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
                                          " files are not in " + shown(snapshot) + ": " + missing +
                                          (count > 5 ? ", …" : ""));
  return snapshot;
}

}  // namespace hf::cache
