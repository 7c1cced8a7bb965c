// The execution of a plan to adopt: content first, then its names, then refs, then the source's files go.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/escape.h"
#include "cache/mirror/adopt.h"
#include "cache/store/content_copy.h"
#include "cache/store/content_reader.h"
#include "cache/store/open_file.h"
#include "cache/store/repo_folder.h"
#include "cache/store/synthetic_commits.h"
#include "cache/store/whole_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_changed(const AdoptedFile& file) {
  throw Error(ErrorKind::integrity, shown(file.source) + ": was changed while it was taken over");
}

// A file that goes when its scope ends, unless it was renamed before.
struct Temporary {
  fs::path path;
  ~Temporary() { unlink(path.c_str()); }
};

class Placer {
 public:
  Placer(const AdoptedRevision& revision, const Store& store, AdoptMode mode, Progress& progress)
      : revision_(revision),
        store_(store),
        folder_(store, revision.repo),
        mode_(mode),
        progress_(progress),
        reader_(progress) {}

  void run() {
    folder_.make();
    std::map<std::string, std::vector<const AdoptedFile*>> by_etag;
    for (const AdoptedFile& file : revision_.files) by_etag[file.file.etag()].push_back(&file);
    for (const auto& [etag, files] : by_etag) place(files);
    folder_.make_snapshot(revision_.commit);
    if (revision_.tree && !folder_.has_tree(revision_.commit, *revision_.tree))
      folder_.write_tree(revision_.commit, *revision_.tree);
    for (const std::string& path : revision_.absent) folder_.mark_absent(revision_.commit, path);
    folder_.sync();
    folder_.sync_names();
    if (revision_.is_synthetic) note_synthetic_commit(store_, revision_.repo, revision_.commit);
    for (const std::string& ref : revision_.refs) folder_.write_ref(ref, revision_.commit);
  }

 private:
  void place(const std::vector<const AdoptedFile*>& same) {
    check_interrupted();
    const AdoptedFile& file = *same.front();
    const FileLock lock = folder_.lock(file.file);
    if (is_there(file)) {
      for (const AdoptedFile* path : same) folder_.link(revision_.commit, path->file);
      progress_.advance(file.file.size);
      return;
    }
    const Temporary made{folder_.home() / temporary_name()};
    // A link is checked before it is made: it is as old as its source, and what is old and half written goes.
    if (mode_ != AdoptMode::copy) check(file, file.source);
    const bool is_linked = mode_ != AdoptMode::copy && link(file, made.path);
    if (!is_linked) {
      copy(file, made.path);
      check(file, made.path);
    }
    std::vector<const TreeFile*> paths;
    for (const AdoptedFile* path : same) paths.push_back(&path->file);
    folder_.place(revision_.commit, made.path, paths, file.sha256);
  }

  // A blob of the right size is not taken for right: the source may go when this says so.
  bool is_there(const AdoptedFile& file) {
    if (!folder_.has_blob(file.file)) return false;
    ContentReader silent(no_progress());
    const ContentHashes hashes = silent.hash(QuietFile(folder_.blob(file.file)),
                                             {.sha256 = true, .git_sha1 = file.file.sha256.empty()});
    return (file.file.sha256.empty() ? hashes.git_sha1 : hashes.sha256) == file.file.etag();
  }

  // False where a move has to copy: to another file system, of another user's file.
  bool link(const AdoptedFile& file, const fs::path& made) const {
    const OpenFile source(open(file.source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!source.is_open()) throw system_error(shown(file.source), errno);
    struct stat info {};
    if (fstat(source.get(), &info) != 0 || info.st_ino != file.identity.inode ||
        static_cast<std::uint64_t>(info.st_size) != file.identity.bytes)
      fail_changed(file);
    const std::string opened = "/proc/self/fd/" + std::to_string(source.get());
    if (linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, made.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      if (fdatasync(source.get()) != 0) throw system_error(shown(file.source), errno);
      return true;
    }
    if (mode_ == AdoptMode::move) return false;
    if (errno == EXDEV)
      throw Error(ErrorKind::io,
                  shown(file.source) + ": is on another file system than the cache, --link cannot be");
    throw system_error(shown(file.source), errno);
  }

  void copy(const AdoptedFile& file, const fs::path& made) const {
    const QuietFile source(file.source);
    if (source.identity().bytes != file.identity.bytes) fail_changed(file);
    const OpenFile to(open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!to.is_open()) throw system_error(shown(made), errno);
    copy_content(source.descriptor(), to.get(), made);
    if (fdatasync(to.get()) != 0) throw system_error(shown(made), errno);
  }

  // Of the bytes that get the name.
  void check(const AdoptedFile& file, const fs::path& bytes) {
    const ContentHashes hashes = reader_.hash(QuietFile(bytes), {.sha256 = true});
    if (hashes.bytes != file.file.size || hashes.sha256 != file.sha256) fail_changed(file);
  }

  const AdoptedRevision& revision_;
  const Store& store_;
  const RepoFolder folder_;
  const AdoptMode mode_;
  Progress& progress_;
  ContentReader reader_;
};

void check_room(const AdoptPlan& plan, const Store& store, AdoptMode mode) {
  std::error_code ignored;
  struct statvfs disk {};
  fs::path there = fs::absolute(store.root(), ignored);
  while (there.has_relative_path() && !fs::exists(there, ignored)) there = there.parent_path();
  if (mode != AdoptMode::copy || statvfs(there.c_str(), &disk) != 0) return;
  std::map<std::string, std::uint64_t> contents;
  for (const AdoptedRevision& revision : plan.revisions)
    if (revision.is_taken())
      for (const AdoptedFile& file : revision.files)
        if (!RepoFolder(store, revision.repo).has_blob(file.file))
          contents[revision.repo.id + " " + file.file.etag()] = file.file.size;
  std::uint64_t bytes = 0;
  for (const auto& [name, size] : contents) bytes += size + 4096;
  if (const std::uint64_t room = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize; bytes > room)
    throw Error(ErrorKind::io, shown(there) + ": has room for " + std::to_string(room) + " bytes, " +
                                   std::to_string(bytes) + " are to be copied");
}

// The source's files go: only those that are what was taken over, and the folders that are empty then.
class Remover {
 public:
  Remover(const AdoptPlan& plan, const Store& store) : plan_(plan), store_(store) {}

  void run() {
    std::set<std::string> refused;  // their files may be shared with revisions that were taken
    for (const AdoptedRevision& revision : plan_.revisions)
      if (!revision.is_taken()) refused.insert(folder_name(revision.repo));
    for (const AdoptedRevision& revision : plan_.revisions) {
      if (refused.contains(folder_name(revision.repo))) continue;
      for (const fs::path& path : revision.spent) remove(path);
    }
    // What tells how the others are to be hashed goes last: a move that is broken off here can be ended.
    for (const bool attributes : {false, true})
      for (const AdoptedRevision& revision : plan_.revisions)
        if (!refused.contains(folder_name(revision.repo)))
          for (const AdoptedFile& file : revision.files)
            if (attributes == file.file.path.ends_with(".gitattributes")) remove(revision, file);
    for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) rmdir(folder->c_str());
  }

 private:
  void remove(const AdoptedRevision& revision, const AdoptedFile& file) {
    struct stat info {
    }, taken{};
    const fs::path name = store_.folder(revision.repo) / "snapshots" / revision.commit / file.file.path;
    if (stat(file.source.c_str(), &info) != 0) return;
    const bool is_link =
        stat(name.c_str(), &taken) == 0 && taken.st_ino == info.st_ino && taken.st_dev == info.st_dev;
    if (!is_link && FileIdentity::of(info) != file.identity) return;
    if (is_link) chmod(name.c_str(), mode_of_blobs(revision));  // not its private one of before
    remove(file.source);
    for (const fs::path& companion : file.companions) remove(companion);
  }

  // As the process makes files there.
  mode_t mode_of_blobs(const AdoptedRevision& revision) const {
    const Temporary probe{store_.folder(revision.repo) / temporary_name()};
    const OpenFile made(open(probe.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    struct stat info {};
    return made.is_open() && fstat(made.get(), &info) == 0 ? info.st_mode & 0777 : 0644;
  }

  void remove(const fs::path& path) {
    unlink(path.c_str());
    const std::string text = path.string();
    for (std::size_t slash = text.rfind('/');
         slash != std::string::npos && slash > 0 && folders_.size() < 1'000'000;
         slash = text.rfind('/', slash - 1))
      if (!folders_.insert(text.substr(0, slash)).second) break;
  }

  const AdoptPlan& plan_;
  const Store& store_;
  std::set<std::string> folders_;  // backwards: a folder behind those in it
};

}  // namespace

void adopt(const AdoptPlan& plan, const Store& store, AdoptMode mode, Progress& progress) {
  check_room(plan, store, mode);
  std::uint64_t bytes = 0;
  for (const AdoptedRevision& revision : plan.revisions)
    if (revision.is_taken())
      for (const AdoptedFile& file : revision.files) bytes += file.file.size;
  progress.begin("adopt", bytes);
  struct End {
    Progress& progress;
    ~End() { progress.end(); }
  } const end{progress};
  for (const AdoptedRevision& revision : plan.revisions)
    if (revision.is_taken()) Placer(revision, store, mode, progress).run();
  if (mode == AdoptMode::move) Remover(plan, store).run();
}

}  // namespace hf::cache
