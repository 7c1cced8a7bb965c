#include "cache/mirror/local_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/progress.h"
#include "cache/store/cachedir_tag.h"
#include "cache/store/content_copy.h"
#include "cache/store/tree_file.h"
#include "cache/store/whole_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;
using Place = Folders::Place;

constexpr std::string_view kNotes = ".cache/huggingface";
constexpr std::size_t kLongestName = 255;

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// download/<path><suffix>; a name that the suffix would make too long is replaced by its hash.
std::string note_name(std::string_view path, std::string_view suffix) {
  const std::size_t name = path.rfind('/') + 1;
  std::string note(path);
  if (path.size() - name + suffix.size() > kLongestName)
    note.replace(name, std::string::npos, sha256_hex(std::as_bytes(std::span(path.substr(name)))));
  return note.append(suffix);
}

// A repository must not write the notes that say which of its files are right.
void check_is_no_note(std::string_view path) {
  if (path == kNotes || (path.starts_with(kNotes) && path[kNotes.size()] == '/'))
    throw Error(
        ErrorKind::integrity,
        "file " + in_quotes(path) + ": stands among the notes on the download, which are no part of it");
}

std::string hash_of(int fd, const TreeFile& file) {
  Hasher hasher(file.hash_kind(), file.size);
  std::vector<std::byte> buffer(1u << 20);
  while (true) {
    check_interrupted();
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("file " + in_quotes(file.path), errno);
    if (got == 0) return hasher.hex();
    hasher.update(std::span(buffer).first(static_cast<std::size_t>(got)));
  }
}

bool has_hash(const Place& place, const TreeFile& file) {
  const OpenFile opened(openat(place.fd(), place.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return opened.is_open() && hash_of(opened.get(), file) == file.etag();
}

// A file that others see beside the notes; one that is there stays.
void write_new(const fs::path& path, std::string_view text) {
  const OpenFile file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open() && errno == EEXIST) return;
  if (!file.is_open()) throw system_error(shown(path), errno);
  if (write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return;
  const int code = errno;
  unlink(path.c_str());
  throw system_error(shown(path), code);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_error(shown(folder), error.value());
}

}  // namespace

bool LocalTarget::Seen::operator==(const struct stat& info) const {
  return inode == info.st_ino && size == info.st_size && changed.tv_sec == info.st_mtim.tv_sec &&
         changed.tv_nsec == info.st_mtim.tv_nsec;
}

LocalTarget::LocalTarget(fs::path folder, const RepoFolder& cache, std::string commit,
                         std::optional<std::vector<TreeFile>> tree)
    : folder_(std::move(folder)),
      notes_(folder_ / kNotes),
      cache_(cache),
      commit_(std::move(commit)),
      tree_(std::move(tree)),
      files_(folder_, Folders::InnerLinks::followed),
      downloads_(parts()) {}

std::optional<LocalMetadata> LocalTarget::note_of(const TreeFile& file) const {
  const auto place = downloads_.find(note_name(file.path, ".metadata"));
  if (!place) return std::nullopt;
  const OpenFile note(openat(place->fd(), place->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  char text[1024];
  const ssize_t got = note.is_open() ? read(note.get(), text, sizeof text) : -1;
  return got < 0 ? std::nullopt : parse_metadata({text, static_cast<std::size_t>(got)});
}

bool LocalTarget::is_in_cache(const TreeFile& file) const {
  return cache_.has_blob(file) || cache_.has_file(commit_, file);
}

FileState LocalTarget::state_of(const TreeFile& file) const {
  check_is_no_note(file.path);
  const auto place = files_.find(file.path);
  struct stat info {};
  if (place && fstatat(place->fd(), place->c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == file.size) {
    const auto note = note_of(file);
    const bool holds = note && note->holds_for(seconds_of(info.st_mtim));
    if (holds && note->etag == file.etag() && note->commit == commit_) return FileState::present;
    if (holds ? note->etag == file.etag() : has_hash(*place, file)) {
      const std::lock_guard lock(mutex_);
      seen_[file.path] = {info.st_ino, info.st_size, info.st_mtim};
      return FileState::in_blobs;
    }
  }
  return is_in_cache(file) ? FileState::in_blobs : FileState::missing;
}

std::optional<FileLock> LocalTarget::try_lock(const TreeFile& file) const {
  check_is_no_note(file.path);
  return FileLock::attempt(downloads_.make(note_name(file.path, ".lock")));
}

void LocalTarget::link(const TreeFile& file) {
  // Looked at by another target, when the plan was made, or changed since: looked at again.
  if (!is_as_seen(file) && state_of(file) == FileState::present) return;
  const auto place = files_.find(file.path);
  struct stat info {};
  if (is_as_seen(file) && place && fstatat(place->fd(), place->c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
    write_note(file, info);
  else
    copy_from_cache(file);
}

// It is what state_of() found right.
bool LocalTarget::is_as_seen(const TreeFile& file) const {
  const std::lock_guard lock(mutex_);
  const auto at = seen_.find(file.path);
  const auto place = files_.find(file.path);
  struct stat info {};
  return at != seen_.end() && place &&
         fstatat(place->fd(), place->c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && at->second == info;
}

void LocalTarget::copy_from_cache(const TreeFile& file) {
  const bool is_blob = cache_.has_blob(file);
  if (!is_blob && !cache_.has_file(commit_, file))
    throw Error(ErrorKind::io,
                shown(folder_ / file.path) +
                    ": was right and has changed meanwhile, and the cache does not hold its content");
  const fs::path source = is_blob ? cache_.blob(file) : cache_.snapshot(commit_) / file.path;
  const OpenFile from(open(source.c_str(), O_RDONLY | O_CLOEXEC | (is_blob ? 0 : O_NOFOLLOW)));
  if (!from.is_open()) throw system_error(shown(source), errno);
  copy(from.get(), file);
}

void LocalTarget::copy(int from, const TreeFile& file) {
  check_is_no_note(file.path);
  const Place made = downloads_.make(temporary_name());
  const OpenFile to(openat(made.fd(), made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!to.is_open()) throw system_error(shown(folder_ / file.path), errno);
  try {
    copy_content(from, to.get(), folder_ / file.path);
    if (fdatasync(to.get()) != 0) throw system_error(shown(folder_ / file.path), errno);
    give_name(made.fd(), made.c_str(), file);
  } catch (const Error&) {
    unlinkat(made.fd(), made.c_str(), 0);
    throw;
  }
}

void LocalTarget::give_name(int folder, const char* name, const TreeFile& file) {
  const Place place = files_.make(file.path);
  struct stat old {
  }, ours{};
  const bool replaces = fstatat(place.fd(), place.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (replaces) {
    const Place note = downloads_.make(note_name(file.path, ".metadata"));
    unlinkat(note.fd(), note.c_str(), 0);
  }
  if (fstatat(folder, name, &ours, AT_SYMLINK_NOFOLLOW) != 0 ||
      renameat(folder, name, place.fd(), place.c_str()) != 0)
    throw system_error(shown(folder_ / file.path), errno);
  // After a power failure the new note must not stand beside the old file.
  if (replaces && fsync(place.fd()) != 0 && errno != EINVAL)
    throw system_error(shown(folder_ / file.path), errno);
  write_note(file, ours);
}

// `known`: the file that is right. It may be another process's by now, which then notes it itself.
void LocalTarget::write_note(const TreeFile& file, const struct stat& known) {
  const auto lock = try_lock(file);  // as huggingface_hub does; nothing when we have it ourselves
  const Place place = files_.make(file.path);
  struct stat info {};
  if (fstatat(place.fd(), place.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_ino != known.st_ino)
    return;
  // The file's own time rather than the clock's, which a file server's may be ahead of: any later change
  // shows.
  const std::string text = metadata_text({commit_, file.etag(), seconds_of(known.st_mtim)});
  const Place note = downloads_.make(note_name(file.path, ".metadata"));
  const OpenFile to(
      openat(note.fd(), note.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!to.is_open() || write(to.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw system_error(shown(parts() / note.name), errno);
}

void LocalTarget::place(const fs::path& part, std::span<const TreeFile* const> links, std::string_view) {
  if (links.empty()) throw Error(ErrorKind::internal, shown(part) + ": has no path to be placed at");
  for (const TreeFile* file : links) check_is_no_note(file->path);
  give_name(AT_FDCWD, part.c_str(), *links.front());
  for (const TreeFile* file : links.subspan(1)) {
    const Place first = files_.make(links.front()->path);
    const OpenFile from(openat(first.fd(), first.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!from.is_open()) throw system_error(shown(folder_ / links.front()->path), errno);
    copy(from.get(), *file);
  }
}

void LocalTarget::sync() const {
  if (syncfs(downloads_.make("all").fd()) != 0) throw system_error(shown(folder_), errno);
}

void LocalTarget::prepare() {
  make_folder(parts());
  write_new(notes_ / kCachedirTagName, kCachedirTag);
  write_new(notes_ / ".gitignore", "*");
  remove_left_behind(parts());
}

bool LocalTarget::has_list() const { return is_tree_file(list(), *tree_); }

bool LocalTarget::is_finished(std::string_view revision) const {
  return !tree_ || (has_list() && (revision.empty() || cache_.has_ref(revision, commit_)));
}

fs::path LocalTarget::path() const {
  std::error_code error;
  fs::path path = fs::canonical(folder_, error);
  return error ? folder_ : path;
}

fs::path LocalTarget::finish(std::string_view revision) {
  if (tree_ && !has_list()) {
    make_folder(list().parent_path());
    write_whole(downloads_.make(temporary_name()), list(), tree_json(*tree_));
  }
  sync();
  try {
    if (tree_ && !revision.empty()) cache_.write_ref(revision, commit_);
  } catch (const Error& error) {  // the folder is complete also where the cache is closed to us
    if (error.kind() != ErrorKind::io) throw;
  }
  return path();
}

}  // namespace hf::cache
