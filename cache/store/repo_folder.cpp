#include "cache/store/repo_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "cache/store/cachedir_tag.h"
#include "cache/store/content_copy.h"
#include "cache/store/folders.h"
#include "cache/store/sha256_record.h"
#include "cache/store/tree_file.h"
#include "cache/store/whole_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRoots = 4;  // whose folders are kept open, of many revisions that are looked at

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_error(shown(folder), error.value());
}

// "../../blobs/<etag>", with one more ".." for each folder of the path.
std::string link_target(const TreeFile& file) {
  std::string target = "../../";
  for (char c : file.path)
    if (c == '/') target += "../";
  return target + "blobs/" + file.etag();
}

std::string target_of_link(int folder, const char* name) {
  char target[4096];
  const ssize_t length = readlinkat(folder, name, target, sizeof target);
  return {target, length < 0 ? 0 : static_cast<std::size_t>(length)};
}

// In a folder that everybody may write to, a link of a stranger is none.
bool is_trusted(int folder, const struct stat& link) {
  struct stat info {};
  if (fstat(folder, &info) != 0) return false;
  return (info.st_mode & S_IWOTH) == 0 || link.st_uid == geteuid() || link.st_uid == 0 ||
         link.st_uid == info.st_uid;
}

bool is_content(const struct stat& info, const TreeFile& file) {
  return S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == file.size;
}

// The part of "../../blobs/<2 digits>/<64 digits>" below the cache's root; empty for any other link.
std::string_view shared_target(std::string_view target) {
  constexpr std::string_view kFront = "../../blobs/";
  if (!target.starts_with(kFront) || target.size() != kFront.size() + 67) return {};
  const std::string_view hash = target.substr(kFront.size() + 3);
  const bool fits = is_etag(hash) && target.substr(kFront.size(), 3) == std::string(hash.substr(0, 2)) + "/";
  return fits ? target.substr(6) : std::string_view();
}

}  // namespace

struct RepoFolder::Opened {
  Opened(const fs::path& home_folder, const fs::path& locks_folder)
      : home(home_folder),
        blobs(home_folder / "blobs"),
        locks(locks_folder),
        record(locks_folder / "sha256") {}

  // Below snapshots/<commit> or .no_exist/<commit>.
  std::shared_ptr<Folders> below(const fs::path& root) {
    const std::lock_guard lock(mutex);
    auto& kept = others[root.string()];
    if (kept) return kept;
    auto made = std::make_shared<Folders>(root);
    if (others.size() > kMostRoots) {
      for (auto& [name, folders] : others)
        if (folders) folders->sync();
      others.clear();
    }
    return others[root.string()] = std::move(made);
  }
  // All that is half written stands in the repository's own folder: in refs/, snapshots/ and the root
  // huggingface_hub would take it for a ref, a file or a broken repository.
  Folders::Place temporary() { return home.make(temporary_name()); }

  Folders home, blobs, locks;
  Sha256Record record;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Folders>, std::less<>> others;
  std::optional<bool> can_link;
};

RepoFolder::RepoFolder(const Store& store, const Repo& repo)
    : root_(store.root()),
      home_(store.folder(repo)),
      locks_(root_ / ".locks" / home_.filename()),
      links_(store.links()),
      opened_(std::make_unique<Opened>(home_, locks_)) {}

RepoFolder::~RepoFolder() = default;

bool RepoFolder::has_blob(const TreeFile& file) const {
  const auto blob = opened_->blobs.find(file.etag());
  struct stat info {};
  if (!blob || fstatat(blob->fd(), blob->c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISLNK(info.st_mode)) return is_content(info, file);
  const std::string target = target_of_link(blob->fd(), blob->c_str());
  const std::string_view shared = shared_target(target);
  return !shared.empty() && is_trusted(blob->fd(), info) && lstat((root_ / shared).c_str(), &info) == 0 &&
         is_content(info, file);
}

bool RepoFolder::has_file(std::string_view commit, const TreeFile& file) const {
  const auto place = opened_->below(snapshot(commit))->find(file.path);
  if (!place) return false;
  const std::string target = target_of_link(place->fd(), place->c_str());
  if (!target.empty()) return target == link_target(file) && has_blob(file);
  if (errno == ENOENT) return false;
  struct stat info {};
  return fstatat(place->fd(), place->c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && is_content(info, file);
}

FileLock RepoFolder::lock(const TreeFile& file) const {
  std::error_code ignored;
  return fs::is_directory(locks_, ignored) ? FileLock(locks_ / (file.etag() + ".lock")) : FileLock::none();
}

std::optional<FileLock> RepoFolder::try_lock(const TreeFile& file) const {
  const auto place = opened_->locks.find(file.etag() + ".lock");
  return place ? FileLock::attempt(*place) : FileLock::none();
}

bool RepoFolder::is_there() const {
  std::error_code ignored;
  return fs::exists(home_, ignored);
}

void RepoFolder::make() const {
  make_folder(blobs());
  std::error_code ignored;  // another user's .locks may be closed to us: then it goes without
  fs::create_directories(locks_, ignored);
  remove_left_behind(home_);
}

// Its time says that it is in use from now on, also when all that is put there has been there: a prune leaves
// it alone.
void RepoFolder::make_snapshot(std::string_view commit) const {
  make_folder(snapshot(commit));
  utimensat(AT_FDCWD, snapshot(commit).c_str(), nullptr, 0);  // another user's stays as it is
}

// Called before anything gets a name: only a cache that holds something is tagged.
bool RepoFolder::can_link() const {
  const std::lock_guard lock(opened_->mutex);
  if (!opened_->can_link) {
    tag_root();
    const Folders::Place tried = opened_->temporary();
    opened_->can_link = links_ != Links::never && can_link_in(tried.fd(), tried.name);
  }
  return *opened_->can_link;
}

void RepoFolder::tag_root() const {
  const fs::path tag = root_ / kCachedirTagName;
  std::error_code ignored;
  if (fs::exists(tag, ignored)) return;
  try {
    write_whole(opened_->temporary(), tag, kCachedirTag);
  } catch (const Error&) {  // the root may be closed to who may write to the repository
  }
}

void RepoFolder::link(std::string_view commit, const TreeFile& file) const {
  if (!can_link()) return put_blob_copy(commit, file);
  const Folders::Place place = opened_->below(snapshot(commit))->make(file.path);
  const std::string target = link_target(file);
  if (symlinkat(target.c_str(), place.fd(), place.c_str()) == 0) return;
  if (means_no_links(errno)) return put_blob_copy(commit, file);
  if (errno != EEXIST) throw system_error(shown(snapshot(commit) / file.path), errno);
  if (target_of_link(place.fd(), place.c_str()) == target) return;
  // Something else stands there: replaced in one step.
  const Folders::Place made = opened_->temporary();
  if (symlinkat(target.c_str(), made.fd(), made.c_str()) != 0)
    throw system_error(shown(snapshot(commit) / file.path), errno);
  give_name(made, place, snapshot(commit) / file.path);
}

void RepoFolder::put_blob_copy(std::string_view commit, const TreeFile& file) const {
  const Folders::Place blob = opened_->blobs.make(file.etag());
  const OpenFile from(openat(blob.fd(), blob.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from.is_open()) throw system_error(shown(this->blob(file)), errno);
  put_copy(commit, file, from.get());
}

void RepoFolder::put_copy(std::string_view commit, const TreeFile& file, int from) const {
  const fs::path path = snapshot(commit) / file.path;
  const Folders::Place place = opened_->below(snapshot(commit))->make(file.path);
  const Folders::Place made = opened_->temporary();
  const OpenFile to(openat(made.fd(), made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!to.is_open()) throw system_error(shown(path), errno);
  try {
    copy_content(from, to.get(), path);
    if (fdatasync(to.get()) != 0) throw system_error(shown(path), errno);
  } catch (const Error&) {
    unlinkat(made.fd(), made.c_str(), 0);
    throw;
  }
  give_name(made, place, path);
}

void RepoFolder::give_name(const Folders::Place& made, const Folders::Place& place, const fs::path& path) {
  if (renameat(made.fd(), made.c_str(), place.fd(), place.c_str()) == 0) return;
  const int code = errno;
  unlinkat(made.fd(), made.c_str(), 0);
  throw system_error(shown(path), code);
}

void RepoFolder::place(std::string_view commit, const fs::path& part, std::span<const TreeFile* const> files,
                       std::string_view sha256) const {
  if (files.empty()) throw Error(ErrorKind::internal, shown(part) + ": has no path to be placed at");
  const TreeFile& file = *files.front();
  const bool links = can_link();
  const Folders::Place place =
      links ? opened_->blobs.make(file.etag()) : opened_->below(snapshot(commit))->make(file.path);
  const fs::path path = links ? blob(file) : snapshot(commit) / file.path;
  if (renameat(AT_FDCWD, part.c_str(), place.fd(), place.c_str()) != 0)
    throw system_error(shown(path), errno);
  record_sha256(file, sha256);
  if (links) {
    for (const TreeFile* link_of : files) link(commit, *link_of);
    return;
  }
  for (const TreeFile* other : files.subspan(1)) {
    const OpenFile from(openat(place.fd(), place.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!from.is_open()) throw system_error(shown(path), errno);
    put_copy(commit, *other, from.get());
  }
}

bool RepoFolder::mark_absent(std::string_view commit, std::string_view path) const {
  try {
    const Folders::Place place = opened_->below(home_ / ".no_exist" / commit)->make(path);
    return OpenFile(openat(place.fd(), place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666))
        .is_open();
  } catch (const Error&) {
    return false;
  }
}

bool RepoFolder::is_marked_absent(std::string_view commit, std::string_view path) const {
  const auto place = opened_->below(home_ / ".no_exist" / commit)->find(path);
  return place && faccessat(place->fd(), place->c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void RepoFolder::write_tree(std::string_view commit, const std::vector<TreeFile>& files) const {
  make_folder(home_ / "trees");
  write_whole(opened_->temporary(), home_ / "trees" / (std::string(commit) + ".json"), tree_json(files));
}

std::optional<std::vector<TreeFile>> RepoFolder::read_tree(std::string_view commit) const {
  const fs::path path = home_ / "trees" / (std::string(commit) + ".json");
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  return parse_tree_json(read_text(path, 1u << 30), shown(path));
}

bool RepoFolder::has_tree(std::string_view commit, const std::vector<TreeFile>& files) const {
  const fs::path path = home_ / "trees" / (std::string(commit) + ".json");
  return is_tree_file(path, files);
}

bool RepoFolder::has_ref(std::string_view revision, std::string_view commit) const {
  check_revision(revision);
  if (revision == commit) return true;
  const fs::path ref = home_ / "refs" / revision;
  std::error_code ignored;
  return fs::is_regular_file(ref, ignored) && fs::file_size(ref, ignored) == commit.size() &&
         read_text(ref, commit.size()) == commit;
}

void RepoFolder::write_ref(std::string_view revision, std::string_view commit) const {
  if (has_ref(revision, commit)) return;
  const fs::path ref = home_ / "refs" / revision;
  make_folder(ref.parent_path());
  write_whole(opened_->temporary(), ref, commit);
  for (fs::path folder = ref.parent_path(); folder != home_; folder = folder.parent_path())
    sync_folder(folder.parent_path());
}

std::optional<std::string> RepoFolder::recorded_sha256(const TreeFile& file) const {
  if (!file.sha256.empty()) return file.sha256;
  return opened_->record.find(file.git_oid);
}

void RepoFolder::record_sha256(const TreeFile& file, std::string_view sha256) const {
  if (file.sha256.empty() && !sha256.empty()) opened_->record.add(file.git_oid, sha256);
}

void RepoFolder::sync() const {
  if (syncfs(opened_->home.make("blobs").fd()) != 0) throw system_error(shown(home_), errno);
}

void RepoFolder::sync_names() const {
  opened_->blobs.sync();
  const std::lock_guard lock(opened_->mutex);
  for (auto& [root, folders] : opened_->others) folders->sync();
  for (const fs::path& folder : {home_ / "snapshots", home_}) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) sync_folder(folder);
  }
}

}  // namespace hf::cache
