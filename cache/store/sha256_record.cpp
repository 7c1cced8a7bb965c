#include "cache/store/sha256_record.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

constexpr std::uint64_t kLongest = 256u << 20;
constexpr std::size_t kSha1Digits = 40, kSha256Digits = 64;
constexpr std::size_t kLine = kSha1Digits + 1 + kSha256Digits;

bool is_line(std::string_view line) {
  return line.size() == kLine && line[kSha1Digits] == ' ' && is_etag(line.substr(0, kSha1Digits)) &&
         is_etag(line.substr(kSha1Digits + 1));
}

}  // namespace

void Sha256Record::add(std::string_view git_sha1, std::string_view sha256) {
  std::string line = std::string(git_sha1) + " " + std::string(sha256);
  if (!is_line(line))
    throw Error(ErrorKind::usage, "record of sha256: " + in_quotes(line) + " is no pair of hashes");
  const std::lock_guard lock(mutex_);
  read();
  std::string& known = known_[std::string(git_sha1)];
  if (known == sha256) return;
  if (!appended_.is_open() && !open()) return;
  line += '\n';
  // In one piece: lines of several processes do not mix.
  const ssize_t written = write(appended_.get(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size()))
    throw system_error(shown(file_), written < 0 ? errno : ENOSPC);
  known = sha256;
}

std::optional<std::string> Sha256Record::find(std::string_view git_sha1) {
  const std::lock_guard lock(mutex_);
  read();
  const auto at = known_.find(git_sha1);
  return at == known_.end() ? std::nullopt : std::optional(at->second);
}

// Lines that are none, as the last one of a machine that lost power, are passed over.
void Sha256Record::read() {
  if (std::exchange(is_read_, true)) return;
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  const std::string text = read_text(file_, kLongest);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (is_line(line)) known_[std::string(line.substr(0, kSha1Digits))] = line.substr(kSha1Digits + 1);
    at = end + 1;
  }
}

bool Sha256Record::open() {
  constexpr int kFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = ::open(file_.c_str(), kFlags | O_CREAT | O_EXCL, 0664);
  if (fd >= 0)
    static_cast<void>(fchmod(fd, 0664));  // for the group whatever the umask is, as the lock files beside it
  else if (errno == EEXIST)
    fd = ::open(file_.c_str(), kFlags);
  constexpr std::array kClosed = {EACCES, EPERM, EROFS, ENOENT, ENOTDIR};
  if (fd < 0 && std::find(kClosed.begin(), kClosed.end(), errno) != kClosed.end()) return false;
  if (fd < 0) throw system_error(shown(file_), errno);
  appended_ = OpenFile(fd);
  const off_t size = lseek(fd, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1)
    throw system_error(shown(file_), errno);
  return true;
}

}  // namespace hf::cache
