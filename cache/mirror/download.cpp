#include "cache/mirror/download.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>

#include "base/escape.h"
#include "base/thread_pool.h"
#include "cache/mirror/fetch.h"
#include "cache/mirror/publisher.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

std::string subject_of(const DownloadRequest& request) {
  return std::string(name_of(request.repo.type)) + " " + escaped(request.repo.id) + ", revision " +
         escaped(request.revision);
}

// The list of a commit's files never changes; one that cannot be read is written again.
bool knows_tree(const RepoFolder& folder, const std::string& commit) {
  try {
    return folder.read_tree(commit).has_value();
  } catch (const Error&) {
    return false;
  }
}

// Then nothing is written at all: a cache may be mounted read-only.
bool is_all_there(const Store& store, const DownloadRequest& request, const DownloadPlan& plan,
                  const RepoFolder& folder) {
  const auto is_present = [](const PlannedFile& planned) { return planned.state == FileState::present; };
  std::error_code ignored;
  return std::all_of(plan.files.begin(), plan.files.end(), is_present) &&
         fs::is_directory(folder.snapshot(plan.commit), ignored) && knows_tree(folder, plan.commit) &&
         store.commit_of(request.repo, request.revision) == plan.commit;
}

// One content, and the paths of the snapshot that lead to it.
struct Job {
  std::vector<const TreeFile*> files;
  std::uint64_t resumable_bytes = 0;
};

// In the order of the first path with the content, so that failures are told in list order.
std::vector<Job> jobs_of(const DownloadPlan& plan) {
  std::vector<Job> jobs;
  std::map<std::string_view, std::size_t> by_etag;
  for (const PlannedFile& planned : plan.files) {
    if (planned.state != FileState::missing) continue;
    const auto [at, is_new] = by_etag.try_emplace(planned.file.etag(), jobs.size());
    if (is_new) jobs.push_back({{}, planned.resumable_bytes});
    jobs[at->second].files.push_back(&planned.file);
  }
  return jobs;
}

void check_room(const RepoFolder& folder, std::uint64_t bytes, std::size_t files) {
  struct statvfs disk {};
  if (statvfs(folder.blobs().c_str(), &disk) != 0) return;  // a file system that does not tell
  const std::uint64_t room = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  const std::uint64_t names = files * 8192;  // inodes, folders, the last block of each file
  if (bytes > room || names > room - bytes)
    throw Error(ErrorKind::io, escaped(folder.blobs().string(), 4096) + ": has room for " +
                                   std::to_string(room) + " bytes, the download needs " +
                                   std::to_string(bytes));
}

// Runs the jobs on several threads and keeps what each one failed with.
class Workers {
 public:
  Workers(const Hub& hub, const DownloadRequest& request, const RepoFolder& folder, const std::string& commit,
          Progress& progress)
      : hub_(hub),
        request_(request),
        folder_(folder),
        commit_(commit),
        progress_(progress),
        leftovers_(find_leftovers(folder.blobs())),
        publisher_(folder, commit) {}

  void run(const std::vector<Job>& jobs) {
    failures_.resize(jobs.size());
    ThreadPool pool(std::clamp<std::size_t>(request_.workers, 1, std::max<std::size_t>(jobs.size(), 1)));
    pool.for_each(jobs.size(), [&](std::size_t i) { run_one(jobs[i], failures_[i]); });
    publisher_.flush();  // what is right is kept also when something else failed
    throw_failures();
  }

 private:
  void run_one(const Job& job, std::optional<Error>& failure) {
    if (stop_.load()) return;
    try {
      check_interrupted();
      get(job);
    } catch (const Error& error) {
      // A wrong or absent file says nothing of the others; a network that is down or a full disk does.
      if (error.kind() != ErrorKind::integrity && error.kind() != ErrorKind::not_found) stop_.store(true);
      failure = error;
    }
  }

  void get(const Job& job) {
    const TreeFile& file = *job.files.front();
    // Saves fetching what another process fetches; small files are renamed after it is given back, which at
    // worst fetches one twice.
    const FileLock lock = folder_.lock(file);
    if (!request_.force && folder_.has_blob(file)) {
      for (const TreeFile* link : job.files) folder_.link(commit_, *link);
      progress_.advance(file.size - job.resumable_bytes);
      return;
    }
    auto partial = std::make_unique<Partial>(folder_.blobs(), file, request_.block_bytes, leftovers_);
    fetch(hub_, request_.repo, commit_, *partial, progress_);
    publisher_.add(std::move(partial), job.files);
  }

  void throw_failures() const {
    std::vector<const Error*> failures;
    for (const auto& failure : failures_)
      if (failure) failures.push_back(&*failure);
    if (failures.empty()) return;
    for (const Error* failure : failures)
      if (failure->kind() == ErrorKind::interrupted) throw *failure;
    std::string message = failures[0]->what();
    if (failures.size() > 1) message = std::to_string(failures.size()) + " files failed";
    if (failures.size() > 1)
      for (const Error* failure : failures) message += std::string("\n  ") + failure->what();
    throw Error(failures[0]->kind(), message);
  }

  const Hub& hub_;
  const DownloadRequest& request_;
  const RepoFolder& folder_;
  const std::string& commit_;
  Progress& progress_;
  const Leftovers leftovers_;
  Publisher publisher_;
  std::vector<std::optional<Error>> failures_;
  std::atomic<bool> stop_{false};
};

}  // namespace

std::uint64_t DownloadPlan::total_bytes() const {
  std::uint64_t bytes = 0;
  for (const PlannedFile& planned : files) bytes += planned.file.size;
  return bytes;
}

std::uint64_t DownloadPlan::bytes_to_fetch() const {
  std::uint64_t bytes = 0;
  for (const Job& job : jobs_of(*this)) bytes += job.files.front()->size - job.resumable_bytes;
  return bytes;
}

DownloadPlan plan_download(const Hub& hub, const Store& store, const DownloadRequest& request) {
  DownloadPlan plan;
  plan.commit = hub.commit_of(request.repo, request.revision);
  plan.tree = hub.tree(request.repo, plan.commit);
  const RepoFolder folder(store, request.repo);
  const Leftovers leftovers = find_leftovers(folder.blobs());
  for (TreeFile& file : select(plan.tree, request.selection, subject_of(request))) {
    PlannedFile planned{std::move(file)};
    if (!request.force && folder.has_file(plan.commit, planned.file))
      planned.state = FileState::present;
    else if (!request.force && folder.has_blob(planned.file))
      planned.state = FileState::in_blobs;
    const auto [begin, end] = leftovers.equal_range(planned.file.etag());
    for (auto at = begin; at != end; ++at)
      planned.resumable_bytes =
          std::max(planned.resumable_bytes, std::min(at->second.bytes, planned.file.size));
    plan.files.push_back(std::move(planned));
  }
  return plan;
}

fs::path download(const Hub& hub, const Store& store, const DownloadRequest& request,
                  const DownloadPlan& plan, Progress& progress) {
  const RepoFolder folder(store, request.repo);
  if (is_all_there(store, request, plan, folder)) return folder.snapshot(plan.commit);
  folder.make();
  const std::vector<Job> jobs = jobs_of(plan);
  const std::uint64_t bytes = plan.bytes_to_fetch();
  check_room(folder, bytes, plan.files.size());
  if (!knows_tree(folder, plan.commit)) folder.write_tree(plan.commit, plan.tree);
  for (const PlannedFile& planned : plan.files)
    if (planned.state == FileState::in_blobs) folder.link(plan.commit, planned.file);

  if (!jobs.empty()) {
    progress.begin(request.repo.id, bytes);
    struct End {
      Progress& progress;
      ~End() { progress.end(); }
    } const end{progress};
    Workers(hub, request, folder, plan.commit, progress).run(jobs);
  }
  remove_worthless_leftovers(folder.blobs());
  folder.make_snapshot(plan.commit);  // also of a revision without files
  folder.sync();                      // a ref must not outlive what it stands for
  folder.write_ref(request.revision, plan.commit);
  return folder.snapshot(plan.commit);
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
