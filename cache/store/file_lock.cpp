#include "cache/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "cache/http/backoff.h"

namespace hf::cache {
namespace {

// The file may have been deleted, or deleted and made again, between open and flock: then this lock guards
// nothing.
bool is_current(int fd, const std::filesystem::path& file) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && held.st_nlink > 0 && stat(file.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Claim claim(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return Claim::ours;
  return errno == EWOULDBLOCK || errno == EINTR ? Claim::taken : Claim::no_locks;
}

FileLock::FileLock(const std::filesystem::path& file) {
  std::chrono::milliseconds pause{5};
  while (true) {
    constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    fd_ = open(file.c_str(), O_RDWR | O_CREAT | kFlags, 0664);
    if (fd_ < 0 && errno == EACCES)
      fd_ = open(file.c_str(), O_RDONLY | kFlags);  // another user's: enough for flock
    if (fd_ < 0 && errno == EACCES) return;
    if (fd_ < 0) throw system_error(escaped(file.string(), 4096), errno);
    const Claim claimed = claim(fd_);
    if (claimed == Claim::no_locks || (claimed == Claim::ours && is_current(fd_, file))) return;
    close(std::exchange(fd_, -1));
    if (claimed == Claim::ours) continue;
    wait_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(250));
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

}  // namespace hf::cache
