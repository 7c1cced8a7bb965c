#include "cache/mirror/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "cache/mirror/cache_target.h"
#include "cache/mirror/job.h"
#include "cache/mirror/leftovers.h"
#include "cache/mirror/local_target.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {
namespace {

// A folder of the user's, and the cache that it copies from.
struct CacheBeside {
  RepoFolder cache;
};
class BesideTarget final : private CacheBeside, public LocalTarget {
 public:
  BesideTarget(const Store& store, const DownloadRequest& request, const DownloadPlan& plan)
      : CacheBeside{RepoFolder(store, request.repo)},
        LocalTarget(*request.local_dir, cache, plan.commit, plan.tree) {}
};

// Whether single files are named, few enough to ask about them alone.
bool is_few_names(const Selection& selection) {
  const auto& files = selection.files;
  return !files.empty() && files.size() <= Hub::kMostNamedPaths &&
         std::none_of(files.begin(), files.end(), [](const std::string& f) { return f.ends_with('/'); });
}

// transformers and huggingface_hub ask offline for files that a repository may not have: that there is none
// is worth remembering, when the Hub itself says so of this commit.
void remember_absent(const Hub& hub, const Store& store, const DownloadRequest& request,
                     const std::string& commit, const std::vector<TreeFile>& found) {
  const RepoFolder folder(store, request.repo);
  for (const std::string& path : request.selection.files) {
    const auto is_it = [&](const TreeFile& file) { return file.path == path; };
    if (path.ends_with('/') || std::any_of(found.begin(), found.end(), is_it)) continue;
    try {
      const Response answer = hub.client().send(hub.file_request(request.repo, commit, path, std::nullopt));
      if (answer.find("x-error-code") == "EntryNotFound" && answer.find("x-repo-commit") == commit)
        folder.mark_absent(commit, path);
    } catch (const Error&) {  // it is a hint, and the want of the file is told anyway
    }
  }
}

std::vector<TreeFile> files_of(const Hub& hub, const Store& store, const DownloadRequest& request,
                               DownloadPlan& plan) {
  std::vector<TreeFile> listed;
  if (is_few_names(request.selection)) {
    const std::set<std::string> names(request.selection.files.begin(), request.selection.files.end());
    listed = hub.paths_info(request.repo, plan.commit, {names.begin(), names.end()});
  } else {
    plan.tree = listed = hub.tree(request.repo, plan.commit);
  }
  try {
    return select(listed, request.selection, subject_of(request));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_found && is_few_names(request.selection) && !request.local_dir)
      remember_absent(hub, store, request, plan.commit, listed);
    throw;
  }
}

std::uint64_t requests_so_far(const Hub& hub) {
  const Client::Statistics& statistics = hub.client().statistics();
  return statistics.requests - statistics.redirects;
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

std::string subject_of(const DownloadRequest& request) {
  return std::string(name_of(request.repo.type)) + " " + escaped(request.repo.id) + ", revision " +
         escaped(request.revision);
}

std::string ref_of(const DownloadRequest& request) {
  if (request.ref) return *request.ref;
  return is_commit(request.revision) ? "" : request.revision;
}

std::unique_ptr<Target> make_target(const Store& store, const DownloadRequest& request,
                                    const DownloadPlan& plan) {
  if (request.local_dir) return std::make_unique<BesideTarget>(store, request, plan);
  return std::make_unique<CacheTarget>(store, request.repo, plan.commit, plan.tree);
}

DownloadPlan plan_download(const Hub& hub, const Store& store, const DownloadRequest& request) {
  DownloadPlan plan;
  const std::uint64_t before = requests_so_far(hub);
  plan.commit = hub.commit_of(request.repo, request.revision);
  std::vector<TreeFile> files = files_of(hub, store, request, plan);
  plan.api_requests = requests_so_far(hub) - before;
  const auto target = make_target(store, request, plan);
  const Leftovers leftovers = find_leftovers(target->parts());
  plan.files.reserve(files.size());
  for (TreeFile& file : files) {
    PlannedFile planned{std::move(file)};
    if (!request.force && planned.file.fault.empty()) planned.state = target->state_of(planned.file);
    const auto [begin, end] = leftovers.equal_range(planned.file.etag());
    for (auto at = begin; at != end; ++at)
      planned.resumable_bytes =
          std::max(planned.resumable_bytes, std::min(at->second.bytes, planned.file.size));
    plan.files.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace hf::cache
