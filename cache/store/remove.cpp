#include "cache/store/remove.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/progress.h"
#include "cache/mirror/leftovers.h"
#include "cache/store/file_lock.h"
#include "cache/store/remnant_names.h"
#include "cache/store/repo_eraser.h"
#include "cache/store/scan_repo.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

std::string etag_of(const std::string& blob_path) {
  const std::string name = blob_path.substr(blob_path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

// Whether the process that took the snapshot away is at work on this machine: it may want to put it back.
bool is_of_living(const std::string& hidden) {
  pid_t process = 0;
  const char* const begin = hidden.data() + kRemovedPrefix.size();
  const auto read = std::from_chars(begin, hidden.data() + hidden.size(), process);
  return read.ec == std::errc() && process > 0 && process != getpid() &&
         (kill(process, 0) == 0 || errno == EPERM);
}

// How many locks to hold at a time: half of the descriptors that the process may have.
std::size_t locks_at_a_time() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  return std::clamp<std::size_t>(static_cast<std::size_t>(limit.rlim_cur) / 2, 1, 2048);
}

class RepoRemover {
 public:
  RepoRemover(const Store& store, const RepoRemoval& removal, FileTime newest, RemovalReport& report)
      : root_(fs::absolute(store.root())),
        removal_(removal),
        planned_(*removal.repo),
        eraser_(planned_.path),
        newest_(newest),
        report_(report) {}

  void remove() {
    const bool changes_revisions = !removal_.revisions.empty() || !removal_.refs.empty();
    if (changes_revisions && is_in_use(Store(root_), planned_.repo)) {
      keep("is being downloaded, its revisions stay");
    } else if (changes_revisions) {
      remove_refs();
      remove_snapshots();
    }
    remove_blobs();
    for (const std::size_t at : removal_.remnants) remove_remnant(planned_.remnants[at]);
    if (removal_.is_whole) remove_folders();
  }

 private:
  void keep(const std::string& why) {
    report_.kept.push_back(std::string(name_of(planned_.repo.type)) + " " + escaped(planned_.repo.id) + ": " +
                           why);
  }
  [[noreturn]] void fail(const std::string& path, int code) const {
    throw system_error(shown(planned_.path / path), code);
  }
  CachedRepo look_again() const;
  std::optional<FileLock> lock(const std::string& etag);

  void remove_refs();
  bool take_ref(const std::string& name, const std::string& expected);
  void remove_snapshots();
  void hide(const CachedRevision& revision);
  void restore_wanted();
  void delete_hidden(const CachedRevision& revision);
  void remove_blobs();
  void remove_batch(std::size_t begin, std::size_t end);
  void remove_blob(const CachedContent& blob);
  void remove_remnant(const Remnant& remnant);
  bool remove_unfinished(const Remnant& remnant);
  bool remove_dead_ref(const std::string& path);
  void remove_empty_above(std::string folder) const;
  void remove_folders();

  fs::path root_;
  const RepoRemoval& removal_;
  const CachedRepo& planned_;
  RepoEraser eraser_;
  FileTime newest_;
  RemovalReport& report_;
  std::size_t blobs_in_use_ = 0;
  struct Hidden {
    std::string path;
    FileTime touched;  // before
  };
  std::map<std::string, Hidden> hidden_;  // by commit: where its snapshot is now
};

CachedRepo RepoRemover::look_again() const {
  const Folder root(root_.string(), Folder::Links::follow);
  return scan_repo(root, planned_.path.filename().string(), planned_.repo, planned_.path,
                   has_shared_store(root));
}

// Nothing where another process has it, or where nobody can tell.
std::optional<FileLock> RepoRemover::lock(const std::string& etag) {
  const fs::path folder = root_ / ".locks" / planned_.path.filename();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_error(shown(folder), error.value());
  auto lock = FileLock::attempt(folder / (etag + ".lock"));
  return lock && lock->is_held() ? std::move(lock) : std::nullopt;
}

void RepoRemover::remove_refs() {
  for (const std::size_t at : removal_.revisions) {
    const CachedRevision& revision = planned_.revisions[at];
    for (const std::string& name : revision.refs) take_ref(name, revision.commit);
  }
  for (const CachedRevision& revision : planned_.revisions)
    for (const std::string& name : revision.refs)
      if (std::find(removal_.refs.begin(), removal_.refs.end(), name) != removal_.refs.end())
        take_ref(name, revision.commit);
}

// A ref that says something else by now is put back: it is taken away first and read then, so that no new one
// can be lost in between.
bool RepoRemover::take_ref(const std::string& name, const std::string& expected) {
  const std::string ref = "refs/" + name, taken = std::string(kTakenRefPrefix) + std::to_string(getpid());
  if (const int code = eraser_.rename(ref, taken); code != 0) {
    if (code == ENOENT) return false;
    fail(ref, code);
  }
  const auto text = eraser_.text(taken, 4096);
  const bool is_same = text && without_line_end(*text) == expected;
  if (!is_same && !eraser_.link(taken, ref) && !eraser_.exists(ref)) {  // not all file systems can link
    if (const int code = eraser_.rename(taken, ref); code != 0) fail(ref, code);
  }
  eraser_.unlink(taken);
  const std::string folder = ref.substr(0, ref.rfind('/'));
  eraser_.sync(folder);
  if (is_same) remove_empty_above(folder);
  return is_same;
}

// In one step, to a name that nobody reads. A killed process of our number, as containers have, may have left
// one.
void RepoRemover::hide(const CachedRevision& revision) {
  const std::string from = "snapshots/" + revision.commit;
  for (int i = 0;; ++i) {
    std::string to = std::string(kRemovedPrefix) + std::to_string(getpid()) + "-" + std::to_string(i) + "-" +
                     revision.commit;
    const int code = eraser_.rename(from, to);
    if (code == EXDEV) to = from;  // on another disk: deleted in its place
    if (code == 0 || code == EXDEV) hidden_[revision.commit] = {std::move(to), revision.touched};
    if (code == 0 || code == EXDEV || code == ENOENT) return;  // ENOENT: another process did it
    if (code != EEXIST && code != ENOTEMPTY) fail(from, code);
  }
}

void RepoRemover::remove_snapshots() {
  const CachedRepo now = look_again();
  for (const std::size_t at : removal_.revisions) {
    const std::string& commit = planned_.revisions[at].commit;
    const auto found =
        std::find_if(now.revisions.begin(), now.revisions.end(),
                     [&](const CachedRevision& revision) { return revision.commit == commit; });
    if (found == now.revisions.end()) continue;
    const bool was_known = planned_.refs_are_known;
    if (!found->refs.empty() || (was_known && !now.refs_are_known) ||
        found->touched > std::max(newest_, planned_.revisions[at].touched)) {
      keep("revision " + commit.substr(0, 12) + " is needed again");
      continue;
    }
    hide(*found);
  }
  if (hidden_.empty()) return;
  restore_wanted();
  eraser_.sync("snapshots");
  eraser_.sync("");
  for (const std::size_t at : removal_.revisions)
    if (hidden_.contains(planned_.revisions[at].commit)) delete_hidden(planned_.revisions[at]);
}

// A ref may have been written between the look at the refs and the step that took the snapshot away, or a
// download into it have begun.
void RepoRemover::restore_wanted() {
  std::set<std::string> wanted;
  for (const Remnant& remnant : look_again().remnants)
    if (remnant.kind == Remnant::Kind::lone_ref) wanted.insert(remnant.commit);
  for (const auto& [commit, hidden] : hidden_)
    if (const auto info = eraser_.info(hidden.path); info && info->modified > hidden.touched)
      wanted.insert(commit);
  for (const std::string& commit : wanted) {
    const auto at = hidden_.find(commit);
    if (at == hidden_.end()) continue;
    if (const int code = eraser_.rename(at->second.path, "snapshots/" + commit); code != 0)
      fail("snapshots/" + commit, code);
    hidden_.erase(at);
    keep("revision " + commit.substr(0, 12) + " is needed again");
  }
}

void RepoRemover::delete_hidden(const CachedRevision& revision) {
  eraser_.remove_tree(hidden_.at(revision.commit).path);
  eraser_.remove_tree(".no_exist/" + revision.commit);
  eraser_.unlink("trees/" + revision.commit + ".json");
  ++report_.revisions;
  for (const std::size_t at : revision.contents)
    if (!planned_.contents[at].is_blob() && planned_.contents[at].is_inside())
      report_.bytes += planned_.contents[at].info.bytes;
}

void RepoRemover::remove_blobs() {
  const std::size_t step = locks_at_a_time();
  for (std::size_t begin = 0; begin < removal_.blobs.size(); begin += step)
    remove_batch(begin, std::min(begin + step, removal_.blobs.size()));
  if (blobs_in_use_ > 0)
    keep(blobs_in_use_ == 1 ? "a blob is in use" : std::to_string(blobs_in_use_) + " blobs are in use");
}

void RepoRemover::remove_batch(std::size_t begin, std::size_t end) {
  check_interrupted();
  std::vector<FileLock> locks;
  std::set<std::string> ours;  // paths of blobs whose lock is
  for (std::size_t i = begin; i < end; ++i) {
    const std::string& path = planned_.contents[removal_.blobs[i]].path;
    if (auto taken = lock(etag_of(path))) {
      locks.push_back(std::move(*taken));
      ours.insert(path);
    } else {
      ++blobs_in_use_;
    }
  }
  const CachedRepo now = look_again();
  for (const CachedContent& content : now.contents) {
    if (!ours.contains(content.path)) continue;
    if (!content.is_linked && now.links_are_known && content.info.newest() <= newest_) remove_blob(content);
  }
}

void RepoRemover::remove_blob(const CachedContent& blob) {
  if (!eraser_.unlink(blob.path)) return;
  ++report_.blobs;
  report_.bytes += blob.shared.empty() ? blob.info.bytes : sweep_shared_blob(root_, blob.shared);
}

void RepoRemover::remove_remnant(const Remnant& remnant) {
  check_interrupted();
  const bool has_revision = !remnant.commit.empty() && eraser_.exists("snapshots/" + remnant.commit);
  bool is_gone = false;
  switch (remnant.kind) {
    case Remnant::Kind::partial:
    case Remnant::Kind::incomplete:
    case Remnant::Kind::temporary:
      is_gone = remove_unfinished(remnant);
      break;
    case Remnant::Kind::lone_ref:
      is_gone = !has_revision && take_ref(remnant.path.substr(remnant.path.find('/') + 1), remnant.commit);
      break;
    case Remnant::Kind::dead_ref:
      is_gone = remove_dead_ref(remnant.path);
      break;
    case Remnant::Kind::removed:
      is_gone = !is_of_living(remnant.path);
      if (is_gone) eraser_.remove_tree(remnant.path);
      break;
    case Remnant::Kind::list:
      if (!has_revision) eraser_.remove_tree(remnant.path);
      is_gone = !has_revision;
      break;
    case Remnant::Kind::empty_folder:
      remove_empty_above(remnant.path);
      is_gone = !eraser_.exists(remnant.path);
      break;
  }
  if (!is_gone) return keep(escaped(remnant.path) + " is in use");
  ++report_.remnants;
  if (remnant.info.kind == EntryKind::file) report_.bytes += remnant.info.bytes;
}

// Its process is gone when nobody has its lock, nor the content's, and nothing was written to it since it was
// found.
bool RepoRemover::remove_unfinished(const Remnant& remnant) {
  const std::string& path = remnant.path;
  if (path.ends_with(".journal") && eraser_.exists(path.substr(0, path.rfind('.')))) return false;
  const std::string etag = etag_of(path);
  const std::optional<FileLock> content_lock = is_etag(etag) ? lock(etag) : std::nullopt;
  if (is_etag(etag) && !content_lock) return false;
  if (remnant.kind == Remnant::Kind::partial)
    return remove_dead_partial(planned_.path / path) || !eraser_.exists(path);
  const OpenFile file(eraser_.open_file(path, O_RDWR | O_NONBLOCK));
  const bool is_free = file.is_open() ? claim(file.get()) != Claim::taken : errno == ENOENT || errno == ELOOP;
  const auto info = eraser_.info(path);
  const bool is_same = info && info->modified == remnant.info.modified && info->bytes == remnant.info.bytes;
  if (is_free && is_same) eraser_.unlink(path);
  return !info || (is_free && is_same);
}

bool RepoRemover::remove_dead_ref(const std::string& path) {
  const auto text = eraser_.text(path, 4096);
  return text && !is_commit(without_line_end(*text)) && eraser_.unlink(path);
}

// The folder and those above it, as far as they are empty, up to refs/.
void RepoRemover::remove_empty_above(std::string folder) const {
  for (; folder.starts_with("refs/"); folder.resize(folder.rfind('/')))
    if (!eraser_.remove_folder(folder)) return;
}

// From the inside outwards, and only what is empty; snapshots/ last, since a repository without it counts as
// damaged.
void RepoRemover::remove_folders() {
  for (const char* name : {"blobs", "refs", "trees", ".no_exist"}) eraser_.remove_folder(name);
  for (const FolderEntry& entry : Folder(planned_.path.string(), Folder::Links::trusted).entries())
    if (entry.name != "snapshots") return keep("its folder stays, it is not empty");
  eraser_.remove_folder("snapshots");
  rmdir(planned_.path.c_str());
}

}  // namespace

bool is_in_use(const Store& store, const Repo& repo) {
  const fs::path folder = store.root() / ".locks" / folder_name(repo);
  Folder locks(folder.string());
  for (const FolderEntry& entry : locks.entries())
    if (entry.kind == EntryKind::file && entry.name.ends_with(".lock") &&
        !FileLock::attempt(folder / entry.name))
      return true;
  return false;
}

RemovalReport remove(const Store& store, const RemovalPlan& plan, FileTime newest) {
  RemovalReport report;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      report.failures.emplace_back(error.what());
    }
  };
  for (const RepoRemoval& removal : plan.repos)
    attempt([&] { RepoRemover(store, removal, newest, report).remove(); });
  for (const SharedBlob& blob : plan.shared)
    attempt([&] {
      check_interrupted();
      report.bytes += sweep_shared_blob(fs::absolute(store.root()), blob.name);
    });
  return report;
}

}  // namespace hf::cache
