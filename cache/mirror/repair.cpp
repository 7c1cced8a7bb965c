#include "cache/mirror/repair.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/escape.h"
#include "base/file.h"
#include "cache/mirror/download.h"
#include "cache/mirror/leftovers.h"
#include "cache/store/folder_notes.h"
#include "cache/store/repo_folder.h"
#include "cache/store/tree_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

// The damage of one repository, sorted by what mends it.
struct Damage {
  std::map<std::string, std::set<std::string>> files;  // by commit, paths to fetch or to link
  std::set<std::string> refs, lists;                   // names below refs/; commits
  std::vector<const Checked*> unused;                  // wrong blobs that nothing leads to
  std::set<std::string> right;                         // etags of blobs that were found right
};

Damage damage_of(const CheckedRepo& repo) {
  Damage damage;
  for (const Checked& file : repo.files) {
    const bool is_blob = file.path.starts_with("blobs/");
    if (file.verdict == Verdict::ok && is_blob) damage.right.insert(file.etag);
    if (file.verdict != Verdict::wrong && file.verdict != Verdict::missing) continue;
    if (file.path.starts_with("refs/"))
      damage.refs.insert(file.path.substr(5));
    else if (file.path.starts_with("trees/"))
      damage.lists.insert(file.path.substr(6, 40));
    else if (!file.names.empty())  // one name brings the content back for all that lead to it
      damage.files[file.names[0].substr(0, 40)].insert(file.names[0].substr(41));
    else if (is_blob && file.verdict == Verdict::wrong)
      damage.unused.push_back(&file);
  }
  return damage;
}

// A download as a single bar.
class ShownEvents : public DownloadEvents {
 public:
  ShownEvents(Progress& progress, const std::string& label, std::uint64_t bytes) : progress_(progress) {
    progress_.begin(label, bytes);
  }
  ~ShownEvents() override { progress_.end(); }
  void advanced(const TreeFile&, std::uint64_t bytes) override { progress_.advance(bytes); }

 private:
  Progress& progress_;
};

void run(const Hub& hub, const Store& store, const DownloadRequest& request, const DownloadPlan& plan,
         Progress& progress) {
  ShownEvents events(progress, "repair " + request.repo.id, plan.bytes_to_fetch());
  download(hub, *make_target(store, request, plan), request, plan, events);
}

// The named files of a commit, whether or not their content seems to be there; those in `right` need only
// their names. Paths that the commit does not have are told in `failures`.
void fetch_again(const Hub& hub, const Store& store, DownloadRequest request, std::vector<TreeFile> tree,
                 const std::set<std::string>& paths, const std::set<std::string>& right, Progress& progress,
                 std::vector<std::string>& failures) {
  DownloadPlan plan;
  plan.commit = request.revision;
  plan.tree = std::move(tree);
  for (const std::string& path : paths) {
    if (const TreeFile* file = find_path(*plan.tree, path))
      plan.files.push_back({*file, right.contains(file->etag()) ? FileState::in_blobs : FileState::missing});
    else
      failures.push_back(subject_of(request) + ": has no file " + in_quotes(path));
  }
  request.force = true;  // what stands there is what is to be replaced
  if (!plan.files.empty()) run(hub, store, request, plan, progress);
}

// Calls mend(); an Error of it becomes a line, unless the user stops the program.
template <class F>
void attempt(std::vector<std::string>& failures, const F& mend) {
  check_interrupted();
  try {
    mend();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    failures.push_back(error.what());
  }
}

class Repairer {
 public:
  Repairer(const Hub& hub, const Store& store, const CheckedRepo& checked, Progress& progress,
           std::vector<std::string>& failures)
      : hub_(hub),
        store_(store),
        repo_(*checked.repo),
        folder_(store, repo_),
        home_(store.folder(repo_)),
        damage_(damage_of(checked)),
        progress_(progress),
        failures_(failures) {}

  void run() {
    for (const std::string& commit : damage_.lists) attempt(failures_, [&] { mend_list(commit); });
    for (const auto& damaged : damage_.files)
      attempt(failures_, [&] { fetch(damaged.first, damaged.second); });
    for (const std::string& ref : damage_.refs) attempt(failures_, [&] { mend_ref(ref); });
    for (const Checked* blob : damage_.unused) attempt(failures_, [&] { remove(*blob); });
    // What a repair that was killed has left beside contents that are there by now.
    remove_worthless_leftovers(folder_.blobs(), [&](const std::string& etag) {
      std::error_code ignored;
      return fs::exists(folder_.blobs() / etag, ignored);
    });
  }

 private:
  void mend_list(const std::string& commit) { folder_.write_tree(commit, hub_.tree(repo_, commit)); }

  std::vector<TreeFile> list_of(const std::string& commit) const {
    if (!damage_.lists.contains(commit))
      if (auto tree = folder_.read_tree(commit)) return std::move(*tree);
    return hub_.tree(repo_, commit);
  }

  void fetch(const std::string& commit, const std::set<std::string>& paths) {
    fetch_again(hub_, store_, {.repo = repo_, .revision = commit}, list_of(commit), paths, damage_.right,
                progress_, failures_);
  }

  // A ref that only has too much around its commit needs no Hub; one that holds none is asked for.
  void mend_ref(const std::string& ref) {
    std::string commit = without_line_end(read_text(home_ / "refs" / ref, 4096));
    if (!is_commit(commit)) commit = hub_.commit_of(repo_, ref);
    std::error_code ignored;
    if (!fs::is_directory(folder_.snapshot(commit), ignored)) {
      const DownloadRequest request{.repo = repo_, .revision = commit};
      cache::run(hub_, store_, request, plan_download(hub_, store_, request), progress_);
    }
    folder_.write_ref(ref, commit);
  }

  // Unless somebody has put another in its place since it was read.
  void remove(const Checked& blob) {
    const FileLock lock = folder_.lock({.path = "", .git_oid = blob.etag});
    const fs::path path = home_ / blob.path;
    struct stat info {};
    const bool is_same = stat(path.c_str(), &info) == 0 && info.st_ino == blob.identity.inode &&
                         info.st_ctim.tv_sec == blob.identity.changed_seconds &&
                         info.st_ctim.tv_nsec == blob.identity.changed_nanoseconds;
    if (!is_same && blob.identity.inode != 0) return;
    if (unlink(path.c_str()) != 0 && errno != ENOENT) throw system_error(shown(path), errno);
    sync_folder(path.parent_path());
  }

  const Hub& hub_;
  const Store& store_;
  const Repo& repo_;
  const RepoFolder folder_;
  const fs::path home_;
  const Damage damage_;
  Progress& progress_;
  std::vector<std::string>& failures_;
};

}  // namespace

std::vector<std::string> repair(const Hub& hub, const Store& store, const VerifyReport& report,
                                Progress& progress) {
  std::vector<std::string> failures;
  for (const CheckedRepo& checked : report.repos)
    if (checked.repo) Repairer(hub, store, checked, progress, failures).run();
  return failures;
}

std::vector<std::string> repair_folder(const Hub& hub, const Store& store, const fs::path& folder,
                                       const Repo& repo, const VerifyReport& report, Progress& progress) {
  std::vector<std::string> failures;
  const FolderNotes notes = read_folder_notes(folder);
  std::map<std::string, std::set<std::string>> damaged;  // by commit
  for (const CheckedRepo& checked : report.repos)
    for (const Checked& file : checked.files)
      if (file.verdict == Verdict::wrong || file.verdict == Verdict::missing)
        for (const std::string& name : file.names) damaged[name.substr(0, 40)].insert(name.substr(41));
  for (const auto& one : damaged)
    attempt(failures, [&] {
      const std::string& commit = one.first;
      const auto tree = notes.trees.find(commit);
      fetch_again(hub, store, {.repo = repo, .revision = commit, .local_dir = folder},
                  tree == notes.trees.end() ? hub.tree(repo, commit) : tree->second, one.second, {}, progress,
                  failures);
    });
  return failures;
}

}  // namespace hf::cache
