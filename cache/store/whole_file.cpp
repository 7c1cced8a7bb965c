#include "cache/store/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <random>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"

namespace hf::cache {
namespace {

constexpr std::string_view kFront = ".hf-";
constexpr std::string_view kOldFront = ".ref-";  // of our first versions
constexpr std::time_t kLeftAfter = 3600;         // seconds

// The code of what failed, 0 for nothing.
int write_new(const Folders::Place& place, std::string_view text) {
  const OpenFile file(
      openat(place.fd(), place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.is_open()) return errno;
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? ENOSPC : errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(file.get()) == 0 ? 0 : errno;
}

std::string random_digits() {
  constexpr char kHex[] = "0123456789abcdef";
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 16; ++i) digits += kHex[random() & 15];
  return digits;
}

}  // namespace

std::string temporary_name() {
  static const std::string random = random_digits();
  static std::atomic<unsigned> count{0};
  return std::string(kFront) + std::to_string(getpid()) + "-" + random + "-" + std::to_string(count++);
}

void remove_left_behind(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    struct stat info {};
    if ((name.starts_with(kFront) || name.starts_with(kOldFront)) &&
        lstat(entry.path().c_str(), &info) == 0 && !S_ISDIR(info.st_mode) &&
        std::time(nullptr) - info.st_mtime > kLeftAfter)
      unlink(entry.path().c_str());
  }
}

void write_whole(const Folders::Place& temporary, const std::filesystem::path& path, std::string_view text) {
  int code = write_new(temporary, text);
  if (code == 0 && renameat(temporary.fd(), temporary.c_str(), AT_FDCWD, path.c_str()) != 0) code = errno;
  if (code != 0) {
    unlinkat(temporary.fd(), temporary.c_str(), 0);
    throw system_error(shown(path), code);
  }
  sync_folder(path.parent_path());
}

}  // namespace hf::cache
