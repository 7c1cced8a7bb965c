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

constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
constexpr std::time_t kMomentOfWriting = 2;  // seconds that a new marker may be without its text
constexpr std::time_t kLongSilence = 600;    // seconds after which a marker that proves nothing is passed by

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

// The file may have been deleted, or deleted and made again, between open and flock: then this lock guards
// nothing.
bool is_current(int fd, const std::filesystem::path& file) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && held.st_nlink > 0 && lstat(file.c_str(), &named) == 0 &&
         is_same(held, named);
}

struct LockFile {
  OpenFile file;  // not open: closed to us
  bool created = false;
};

// Open for reading and writing, as NFS wants it, or only for reading when it is another user's.
LockFile open_lock_file(const std::filesystem::path& file) {
  while (true) {
    int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, 0664);
    if (fd >= 0) return {OpenFile(fd), true};
    if (errno == EEXIST) fd = open(file.c_str(), O_RDWR | kFlags);
    if (fd < 0 && errno == EACCES) fd = open(file.c_str(), O_RDONLY | kFlags);
    if (fd >= 0) return {OpenFile(fd), false};
    if (errno == EACCES || errno == EPERM || errno == EROFS) return {};
    std::error_code error;
    const bool vanished = errno == ENOENT && std::filesystem::is_directory(file.parent_path(), error);
    if (!vanished) throw system_error(escaped(file.string(), 4096), errno);
  }
}

enum class Marker { holds, silent, removed };

// Of a file whose being there is another's lock. That of a process that is gone is removed, and so is the
// half written one of a process that was killed. An empty one says nothing: holders of older versions leave
// it so, and flock() on another file system left it behind.
Marker look_at_marker(int fd, const std::filesystem::path& file) {
  std::string text(kLongestSoftLockText + 1, '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  struct stat info {};
  if (fstat(fd, &info) != 0) return Marker::holds;
  const std::time_t silence = std::time(nullptr) - info.st_mtime;
  const SoftLockHolder holder = soft_lock_holder(text);
  const bool half_written = holder == SoftLockHolder::unknown && !text.empty() && silence > kMomentOfWriting;
  if (holder == SoftLockHolder::dead || half_written) {
    if (!is_current(fd, file) || unlink(file.c_str()) == 0) return Marker::removed;
  }
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
      marker_.swap(lock->marker_);
      return;
    }
    check_interrupted();
    std::this_thread::sleep_for(pause);
  }
}

std::optional<FileLock> FileLock::attempt(const std::filesystem::path& path) {
  while (true) {
    LockFile opened = open_lock_file(path);
    if (!opened.file.is_open()) return FileLock();
    const int fd = opened.file.get();
    switch (claim(fd)) {
      case Claim::taken:
        return std::nullopt;
      case Claim::ours:
        if (!is_current(fd, path)) continue;
        // For the group whatever the umask is: others who share the cache wait for it as well.
        if (opened.created) static_cast<void>(fchmod(fd, 0664));
        return FileLock(std::move(opened.file), {});
      case Claim::no_locks:
        break;
    }
    if (opened.created) return make_marker(std::move(opened.file), path);
    switch (look_at_marker(fd, path)) {
      case Marker::removed:
        continue;
      case Marker::holds:
        return std::nullopt;
      case Marker::silent:
        return FileLock();
    }
  }
}

FileLock FileLock::make_marker(OpenFile file, const std::filesystem::path& path) {
  static_cast<void>(fchmod(file.get(), 0644));  // only its holder may change what it says
  const std::string text = soft_lock_text();
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const int code = errno;
    unlink(path.c_str());
    throw system_error(escaped(path.string(), 4096), code);
  }
  return FileLock(std::move(file), path);
}

FileLock::~FileLock() {
  if (!marker_.empty() && held_.is_open() && is_current(held_.get(), marker_)) unlink(marker_.c_str());
}

}  // namespace hf::cache
