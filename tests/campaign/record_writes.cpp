// A library for LD_PRELOAD that records what a program does to the files below a folder:
//
//   HF_RECORD_ROOT=<folder> HF_RECORD_LOG=<file> LD_PRELOAD=… program …
//
// One lock keeps the order of the records that of the effects. What the program hands to standard output is
// recorded as well. A way to change files that is not known here shows when the log is replayed: the result
// is not what stands on the disk then.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "campaign/record.h"

namespace {

using hf::test::RecordedCall;
using hf::test::RecordHead;

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Recorder {
 public:
  static Recorder& get() {
    static auto* recorder = new Recorder;  // outlives whatever still writes at exit
    return *recorder;
  }

  std::recursive_mutex& lock() { return mutex_; }
  bool is_inside(std::string_view path) const {
    return !root_.empty() && path.starts_with(root_) &&
           (path.size() == root_.size() || path[root_.size()] == '/');
  }
  bool knows(int fd) const { return fd >= 0 && fd < kMostFds && known_[fd]; }
  std::uint64_t count() const { return count_; }

  void opened(int fd, std::uint64_t bits) {
    const std::string path = path_of(fd);
    if (fd < 0 || fd >= kMostFds || !is_inside(path)) return;
    known_[fd] = true;
    put({RecordedCall::open, fd, bits}, path);
  }
  void closed(int fd) {
    if (!knows(fd)) return;
    known_[fd] = false;
    put({RecordedCall::close, fd});
  }
  void put(RecordHead head, std::string_view first = {}, std::string_view second = {}) {
    head.first = static_cast<std::uint32_t>(first.size());
    head.second = static_cast<std::uint32_t>(second.size());
    append({reinterpret_cast<const char*>(&head), sizeof head});
    append(first);
    append(second);
    ++count_;
  }

  // The path of a name below a descriptor, with no link followed in its last part.
  static std::string place(int folder, const char* name) {
    std::string path = name;
    if (!path.starts_with('/'))
      path = (folder == AT_FDCWD ? "." : "/proc/self/fd/" + std::to_string(folder)) + "/" + path;
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const std::size_t slash = path.rfind('/');
    char parent[PATH_MAX];
    if (realpath(path.substr(0, slash + 1).c_str(), parent) == nullptr) return path;
    return std::string(parent) + path.substr(slash);
  }

 private:
  static constexpr int kMostFds = 4096, kLogFd = 4090;

  Recorder() : root_(env("HF_RECORD_ROOT")) {
    const std::string log = env("HF_RECORD_LOG");
    const long fd = raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(log.c_str()),
                        O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (root_.empty() || fd < 0) {
      root_.clear();
      return;
    }
    // Far away from the numbers that the program gets.
    log_ = static_cast<int>(raw(SYS_dup3, fd, kLogFd, O_CLOEXEC, 0));
    if (log_ < 0)
      log_ = static_cast<int>(fd);
    else
      raw(SYS_close, fd, 0, 0, 0);
  }

  static long raw(long number, long a, long b, long c, long d) {
    static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
    return real(number, a, b, c, d);
  }
  void append(std::string_view bytes) const {
    while (!bytes.empty()) {
      const long written =
          raw(SYS_write, log_, reinterpret_cast<long>(bytes.data()), static_cast<long>(bytes.size()), 0);
      if (written <= 0) std::_Exit(97);  // a log with a gap would prove anything
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  static std::string path_of(int fd) {
    char name[64], target[PATH_MAX];
    std::snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(name, target, sizeof target);
    return length < 0 ? "" : std::string(target, static_cast<std::size_t>(length));
  }
  std::recursive_mutex mutex_;
  std::string root_;
  int log_ = -1;
  bool known_[kMostFds] = {};
  std::uint64_t count_ = 0;
};

using Lock = std::lock_guard<std::recursive_mutex>;

// Runs open() of some kind and records what it came to.
template <class F>
int record_open(int folder, const char* name, long flags, F&& call) {
  Recorder& recorder = Recorder::get();
  const Lock lock(recorder.lock());
  struct stat before {};
  const bool was = fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) == 0;
  const int fd = call();
  if (fd < 0) return fd;
  const int code = errno;
  struct stat now {};
  std::uint64_t bits = 0;
  if ((flags & O_CREAT) != 0 && !was) bits |= hf::test::kCreated;
  if ((flags & O_TRUNC) != 0) bits |= hf::test::kCut;
  if (fstat(fd, &now) == 0 && S_ISDIR(now.st_mode)) bits |= hf::test::kFolder;
  recorder.opened(fd, bits);
  errno = code;
  return fd;
}

// Runs a write and records the bytes that it took, which begin at `offset` (-1: where the descriptor stands).
template <class F>
ssize_t record_write(int fd, const iovec* parts, int count, off_t offset, F&& call) {
  Recorder& recorder = Recorder::get();
  const Lock lock(recorder.lock());
  const ssize_t written = call();
  if (written <= 0 || !recorder.knows(fd)) return written;
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  bytes.resize(static_cast<std::size_t>(written));
  const off_t at = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR) - written;
  recorder.put({RecordedCall::write, fd, static_cast<std::uint64_t>(at)}, bytes);
  return written;
}

// Runs what makes data or names durable, which takes its time: only what was recorded before counts.
template <class F>
int record_sync(int fd, RecordedCall which, F&& call) {
  Recorder& recorder = Recorder::get();
  std::uint64_t before = 0;
  {
    const Lock lock(recorder.lock());
    before = recorder.count();
  }
  const int result = call();
  const Lock lock(recorder.lock());
  if (result == 0 && (which == RecordedCall::sync_all || recorder.knows(fd)))
    recorder.put({which, fd, before});
  return result;
}

// Runs a change of one or two names.
template <class F>
int record_names(RecordedCall which, const std::string& first, const std::string& second, F&& call) {
  Recorder& recorder = Recorder::get();
  const int result = call();
  const std::string& seen = second.empty() ? first : second;
  if (result == 0 && recorder.is_inside(seen)) recorder.put({which}, first, second);
  return result;
}

void say(const void* bytes, std::size_t size, FILE* to) {
  if (to != stdout) return;
  Recorder& recorder = Recorder::get();
  const Lock lock(recorder.lock());
  if (recorder.is_inside(env("HF_RECORD_ROOT")))
    recorder.put({RecordedCall::said}, {static_cast<const char*>(bytes), size});
}

mode_t mode_of(long flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define REAL(type, name) static const auto real = reinterpret_cast<type>(dlsym(RTLD_NEXT, name))

#define OPEN(name)                                                                      \
  EXPORT int name(const char* path, int flags, ...) {                                   \
    va_list arguments;                                                                  \
    va_start(arguments, flags);                                                         \
    const mode_t mode = mode_of(flags, arguments);                                      \
    va_end(arguments);                                                                  \
    REAL(int (*)(const char*, int, ...), #name);                                        \
    return record_open(AT_FDCWD, path, flags, [&] { return real(path, flags, mode); }); \
  }
#define OPENAT(name)                                                                          \
  EXPORT int name(int folder, const char* path, int flags, ...) {                             \
    va_list arguments;                                                                        \
    va_start(arguments, flags);                                                               \
    const mode_t mode = mode_of(flags, arguments);                                            \
    va_end(arguments);                                                                        \
    REAL(int (*)(int, const char*, int, ...), #name);                                         \
    return record_open(folder, path, flags, [&] { return real(folder, path, flags, mode); }); \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& word : a) word = va_arg(list, long);
  va_end(list);
  REAL(long (*)(long, ...), "syscall");
  const auto call = [&] { return real(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
  if (number != SYS_openat2) return call();
  const auto flags =
      static_cast<long>(*reinterpret_cast<const std::uint64_t*>(a[2]));  // the first of open_how
  return record_open(static_cast<int>(a[0]), reinterpret_cast<const char*>(a[1]), flags,
                     [&] { return static_cast<int>(call()); });
}

EXPORT int close(int fd) {
  REAL(int (*)(int), "close");
  Recorder& recorder = Recorder::get();
  const Lock lock(recorder.lock());
  recorder.closed(fd);
  return real(fd);
}

EXPORT ssize_t write(int fd, const void* bytes, size_t size) {
  REAL(ssize_t(*)(int, const void*, size_t), "write");
  const iovec part{const_cast<void*>(bytes), size};
  return record_write(fd, &part, 1, -1, [&] { return real(fd, bytes, size); });
}

#define PWRITE(name)                                                                  \
  EXPORT ssize_t name(int fd, const void* bytes, size_t size, off_t at) {             \
    REAL(ssize_t (*)(int, const void*, size_t, off_t), #name);                        \
    const iovec part{const_cast<void*>(bytes), size};                                 \
    return record_write(fd, &part, 1, at, [&] { return real(fd, bytes, size, at); }); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  REAL(ssize_t(*)(int, const iovec*, int), "writev");
  return record_write(fd, parts, count, -1, [&] { return real(fd, parts, count); });
}

#define PWRITEV(name)                                                                      \
  EXPORT ssize_t name(int fd, const iovec* parts, int count, off_t at) {                   \
    REAL(ssize_t (*)(int, const iovec*, int, off_t), #name);                               \
    return record_write(fd, parts, count, at, [&] { return real(fd, parts, count, at); }); \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define TRUNCATE(name)                                                              \
  EXPORT int name(int fd, off_t size) noexcept {                                    \
    REAL(int (*)(int, off_t), #name);                                               \
    Recorder& recorder = Recorder::get();                                           \
    const Lock lock(recorder.lock());                                               \
    const int result = real(fd, size);                                              \
    if (result == 0 && recorder.knows(fd))                                          \
      recorder.put({RecordedCall::truncate, fd, static_cast<std::uint64_t>(size)}); \
    return result;                                                                  \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

EXPORT int fsync(int fd) {
  REAL(int (*)(int), "fsync");
  return record_sync(fd, RecordedCall::sync_file, [&] { return real(fd); });
}
EXPORT int fdatasync(int fd) {
  REAL(int (*)(int), "fdatasync");
  return record_sync(fd, RecordedCall::sync_file, [&] { return real(fd); });
}
EXPORT int syncfs(int fd) noexcept {
  REAL(int (*)(int), "syncfs");
  return record_sync(fd, RecordedCall::sync_all, [&] { return real(fd); });
}

// The two ends of a change of names, and the call.
#define NAMES_LOCKED                    \
  Recorder& recorder = Recorder::get(); \
  const Lock lock(recorder.lock())

EXPORT int rename(const char* from, const char* to) noexcept {
  REAL(int (*)(const char*, const char*), "rename");
  NAMES_LOCKED;
  return record_names(RecordedCall::rename, recorder.place(AT_FDCWD, from), recorder.place(AT_FDCWD, to),
                      [&] { return real(from, to); });
}
EXPORT int renameat(int a, const char* from, int b, const char* to) noexcept {
  REAL(int (*)(int, const char*, int, const char*), "renameat");
  NAMES_LOCKED;
  return record_names(RecordedCall::rename, recorder.place(a, from), recorder.place(b, to),
                      [&] { return real(a, from, b, to); });
}
EXPORT int renameat2(int a, const char* from, int b, const char* to, unsigned flags) noexcept {
  REAL(int (*)(int, const char*, int, const char*, unsigned), "renameat2");
  NAMES_LOCKED;
  return record_names(RecordedCall::rename, recorder.place(a, from), recorder.place(b, to),
                      [&] { return real(a, from, b, to, flags); });
}
EXPORT int link(const char* from, const char* to) noexcept {
  REAL(int (*)(const char*, const char*), "link");
  NAMES_LOCKED;
  return record_names(RecordedCall::link, recorder.place(AT_FDCWD, from), recorder.place(AT_FDCWD, to),
                      [&] { return real(from, to); });
}
EXPORT int linkat(int a, const char* from, int b, const char* to, int flags) noexcept {
  REAL(int (*)(int, const char*, int, const char*, int), "linkat");
  NAMES_LOCKED;
  return record_names(RecordedCall::link, recorder.place(a, from), recorder.place(b, to),
                      [&] { return real(a, from, b, to, flags); });
}
EXPORT int symlink(const char* target, const char* path) noexcept {
  REAL(int (*)(const char*, const char*), "symlink");
  NAMES_LOCKED;
  return record_names(RecordedCall::symlink, target, recorder.place(AT_FDCWD, path),
                      [&] { return real(target, path); });
}
EXPORT int symlinkat(const char* target, int folder, const char* path) noexcept {
  REAL(int (*)(const char*, int, const char*), "symlinkat");
  NAMES_LOCKED;
  return record_names(RecordedCall::symlink, target, recorder.place(folder, path),
                      [&] { return real(target, folder, path); });
}
EXPORT int unlink(const char* path) noexcept {
  REAL(int (*)(const char*), "unlink");
  NAMES_LOCKED;
  return record_names(RecordedCall::unlink, recorder.place(AT_FDCWD, path), "", [&] { return real(path); });
}
EXPORT int unlinkat(int folder, const char* path, int flags) noexcept {
  REAL(int (*)(int, const char*, int), "unlinkat");
  NAMES_LOCKED;
  return record_names(RecordedCall::unlink, recorder.place(folder, path), "",
                      [&] { return real(folder, path, flags); });
}
EXPORT int rmdir(const char* path) noexcept {
  REAL(int (*)(const char*), "rmdir");
  NAMES_LOCKED;
  return record_names(RecordedCall::unlink, recorder.place(AT_FDCWD, path), "", [&] { return real(path); });
}
EXPORT int remove(const char* path) noexcept {
  REAL(int (*)(const char*), "remove");
  NAMES_LOCKED;
  return record_names(RecordedCall::unlink, recorder.place(AT_FDCWD, path), "", [&] { return real(path); });
}
EXPORT int mkdir(const char* path, mode_t mode) noexcept {
  REAL(int (*)(const char*, mode_t), "mkdir");
  NAMES_LOCKED;
  return record_names(RecordedCall::mkdir, recorder.place(AT_FDCWD, path), "",
                      [&] { return real(path, mode); });
}
EXPORT int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  REAL(int (*)(int, const char*, mode_t), "mkdirat");
  NAMES_LOCKED;
  return record_names(RecordedCall::mkdir, recorder.place(folder, path), "",
                      [&] { return real(folder, path, mode); });
}

EXPORT size_t fwrite(const void* bytes, size_t size, size_t count, FILE* to) {
  REAL(size_t(*)(const void*, size_t, size_t, FILE*), "fwrite");
  say(bytes, size * count, to);
  return real(bytes, size, count, to);
}
EXPORT int fputs(const char* text, FILE* to) {
  REAL(int (*)(const char*, FILE*), "fputs");
  say(text, std::strlen(text), to);
  return real(text, to);
}
