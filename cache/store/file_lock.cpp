#include "cache/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>

#include "base/error.h"
#include "base/escape.h"
#include "base/progress.h"
#include "cache/store/soft_lock.h"

namespace hf::cache {
namespace {

using std::chrono::milliseconds;
using Place = Folders::Place;

constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
constexpr std::time_t kMomentOfWriting = 2;  // seconds that a new marker may be without its text
constexpr std::time_t kLongSilence = 600;    // seconds after which a marker that proves nothing is passed by

Place place_of(const std::filesystem::path& file) {
  return {std::make_shared<const OpenFile>(AT_FDCWD), file.string()};
}

// With its folder, where that can be told.
Error failure(const Place& file, int code) {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file.fd()), ignored);
  return system_error(shown(folder / file.name), code);
}

// The file may have been deleted, or deleted and made again, between open and flock: then this lock guards
// nothing.
bool is_current(int fd, const Place& file) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && held.st_nlink > 0 &&
         fstatat(file.fd(), file.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

bool is_deleted(int fd) {
  struct stat held {};
  return fstat(fd, &held) != 0 || held.st_nlink == 0;
}

struct Opened {
  OpenFile file;  // not open: closed to us
  bool is_new = false;
};

bool is_closed(int code) { return code == EACCES || code == EPERM || code == EROFS; }

// For reading and writing, as NFS wants it; only for reading when it is another user's.
Opened open_lock_file(const Place& file) {
  const auto open_as = [&](int flags) { return openat(file.fd(), file.c_str(), flags | kFlags, 0664); };
  for (int tries = 0;; ++tries) {
    int fd = open_as(O_RDWR | O_CREAT | O_EXCL);
    if (fd >= 0) return {OpenFile(fd), true};
    const int refused = errno;
    if (refused != EEXIST && !is_closed(refused)) throw failure(file, refused);
    fd = open_as(O_RDWR);
    if (fd < 0 && is_closed(errno)) fd = open_as(O_RDONLY);
    if (fd >= 0) return {OpenFile(fd), false};
    if (is_closed(errno) || (errno == ENOENT && is_closed(refused))) return {};
    if (errno != ENOENT || tries == 8) throw failure(file, errno);  // ENOENT: removed between the two
  }
}

enum class Marker { holds, silent, removed };

// Of a file whose being there is another's lock. That of a process that is gone is removed, and so is the
// half written one of a process that was killed. An empty one says nothing: holders of older versions leave
// it so, and flock() on another file system left it behind.
Marker look_at_marker(int fd, const Place& file) {
  std::string text(kLongestSoftLockText + 1, '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  struct stat info {};
  if (fstat(fd, &info) != 0) return Marker::holds;
  const std::time_t silence = std::time(nullptr) - info.st_mtime;
  const SoftLockHolder holder = soft_lock_holder(text);
  const bool half_written = holder == SoftLockHolder::unknown && !text.empty() && silence > kMomentOfWriting;
  if (holder == SoftLockHolder::dead || half_written)
    if (!is_current(fd, file) || unlinkat(file.fd(), file.c_str(), 0) == 0) return Marker::removed;
  return holder != SoftLockHolder::alive && silence > kLongSilence ? Marker::silent : Marker::holds;
}

}  // namespace

Claim claim(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return Claim::ours;
  return errno == EWOULDBLOCK || errno == EINTR ? Claim::taken : Claim::no_locks;
}

FileLock::FileLock(const std::filesystem::path& file) {
  for (milliseconds pause{5};; pause = std::min(pause * 2, milliseconds(250))) {
    if (auto lock = attempt(file)) {
      held_ = std::move(lock->held_);
      std::swap(marker_, lock->marker_);
      return;
    }
    check_interrupted();
    std::this_thread::sleep_for(pause);
  }
}

std::optional<FileLock> FileLock::attempt(const std::filesystem::path& file) {
  return attempt(place_of(file));
}

std::optional<FileLock> FileLock::attempt(const Place& file) {
  while (true) {
    Opened opened = open_lock_file(file);
    if (!opened.file.is_open()) return none();
    const int fd = opened.file.get();
    switch (claim(fd)) {
      case Claim::taken:
        return std::nullopt;
      case Claim::ours:
        if (is_deleted(fd)) continue;
        // For the group whatever the umask is: others who share the cache wait for it as well.
        if (opened.is_new) static_cast<void>(fchmod(fd, 0664));
        return FileLock(std::move(opened.file));
      case Claim::no_locks:
        break;
    }
    if (opened.is_new) return make_marker(std::move(opened.file), file);
    switch (look_at_marker(fd, file)) {
      case Marker::removed:
        continue;
      case Marker::holds:
        return std::nullopt;
      case Marker::silent:
        return none();
    }
  }
}

FileLock FileLock::make_marker(OpenFile made, const Place& file) {
  static_cast<void>(fchmod(made.get(), 0644));  // only its holder may change what it says
  const std::string text = soft_lock_text();
  if (write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const int code = errno;
    unlinkat(file.fd(), file.c_str(), 0);
    throw failure(file, code);
  }
  FileLock lock(std::move(made));
  lock.marker_ = file;
  return lock;
}

FileLock::~FileLock() {
  if (marker_.folder && held_.is_open() && is_current(held_.get(), marker_))
    unlinkat(marker_.fd(), marker_.c_str(), 0);
}

}  // namespace hf::cache
