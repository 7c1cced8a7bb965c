#include "base/safe_dir.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/error.h"
#include "base/escape.h"
#include "base/path_rules.h"

namespace hf {
namespace {

void close_keeping_errno(int fd) {
  const int code = errno;
  close(fd);
  errno = code;
}

// A link in the last part is ELOOP, as the kernel says for files; for folders it says ENOTDIR.
int open_no_link(int folder, const std::string& part, int flags, unsigned mode) {
  const int fd = openat(folder, part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  struct stat info {};
  if (fd < 0 && errno == ENOTDIR)
    errno = fstatat(folder, part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode) ? ELOOP
                                                                                                    : ENOTDIR;
  return fd;
}

// Part by part, refusing every symbolic link: stricter than the kernel's own rule, and needs nothing of it.
int open_by_parts(int root, const std::string& name, int flags, unsigned mode) {
  int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
  std::size_t begin = 0;
  for (std::size_t slash = name.find('/'); at >= 0 && slash != std::string::npos;
       slash = name.find('/', begin)) {
    const int next = open_no_link(at, name.substr(begin, slash - begin), O_PATH | O_DIRECTORY, 0);
    close_keeping_errno(at);
    at = next;
    begin = slash + 1;
  }
  if (at < 0) return -1;
  const int fd = open_no_link(at, name.substr(begin), flags, mode);
  close_keeping_errno(at);
  return fd;
}

int open_beneath(int root, const std::string& name, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<__u64>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {
    fd = syscall(SYS_openat2, root, name.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EAGAIN || errno == EINTR));  // EAGAIN: a folder on the way was moved meanwhile
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_parts(root, name, flags, mode);
  return static_cast<int>(fd);
}

[[noreturn]] void fail(const std::filesystem::path& root, std::string_view name, int code) {
  if (code == EXDEV || code == ELOOP)
    throw Error(ErrorKind::integrity, "file " + in_quotes(name) + ": leads out of " + shown(root));
  throw system_error(shown(root / name), code);
}

}  // namespace

SafeDir::SafeDir(const std::filesystem::path& root)
    : root_(root), fd_(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0) throw system_error(shown(root), errno);
}

SafeDir::~SafeDir() { close(fd_); }

int SafeDir::open(std::string_view name, int flags, unsigned mode) const {
  check_relative_path(name);
  if ((flags & O_CREAT) != 0) make_folders(name);
  const int fd = open_beneath(fd_, std::string(name), flags, mode);
  if (fd < 0) fail(root_, name, errno);
  return fd;
}

void SafeDir::make_folders(std::string_view name) const {
  check_relative_path(name);
  const std::string path(name);
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    const std::size_t last = folder.rfind('/');
    const int parent = last == std::string::npos
                           ? fcntl(fd_, F_DUPFD_CLOEXEC, 0)
                           : open_beneath(fd_, folder.substr(0, last), O_PATH | O_DIRECTORY, 0);
    if (parent < 0) fail(root_, folder, errno);
    const int made = mkdirat(parent, folder.c_str() + (last == std::string::npos ? 0 : last + 1), 0777);
    close_keeping_errno(parent);
    if (made != 0 && errno != EEXIST) fail(root_, folder, errno);
  }
}

}  // namespace hf
