// A library for LD_PRELOAD with which the disk is full once HF_DISK_BYTES have been written to files below
// HF_DISK_ROOT: a write that does not fit takes what fits, the next one fails with ENOSPC.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::int64_t room_at_first() {
  const char* text = std::getenv("HF_DISK_BYTES");
  return text == nullptr ? INT64_MAX : std::strtoll(text, nullptr, 10);
}

std::atomic<std::int64_t>& room() {
  static std::atomic<std::int64_t> bytes{room_at_first()};
  return bytes;
}

bool is_on_disk(int fd) {
  const char* root = std::getenv("HF_DISK_ROOT");
  char name[64], path[PATH_MAX];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(name, path, sizeof path);
  return root != nullptr && length > 0 &&
         std::string_view(path, static_cast<std::size_t>(length)).starts_with(root);
}

// How many of the bytes still fit; -1 and ENOSPC where none does.
ssize_t take(int fd, size_t bytes) {
  if (bytes == 0 || !is_on_disk(fd)) return static_cast<ssize_t>(bytes);
  const std::int64_t before = room().fetch_sub(static_cast<std::int64_t>(bytes));
  if (before > 0)
    return static_cast<ssize_t>(std::min<std::int64_t>(before, static_cast<std::int64_t>(bytes)));
  errno = ENOSPC;
  return -1;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define REAL(type, name) static const auto real = reinterpret_cast<type>(dlsym(RTLD_NEXT, name))

EXPORT ssize_t write(int fd, const void* bytes, size_t size) {
  REAL(ssize_t(*)(int, const void*, size_t), "write");
  const ssize_t fits = take(fd, size);
  return fits < 0 ? -1 : real(fd, bytes, static_cast<size_t>(fits));
}

#define PWRITE(name)                                                       \
  EXPORT ssize_t name(int fd, const void* bytes, size_t size, off_t at) {  \
    REAL(ssize_t (*)(int, const void*, size_t, off_t), #name);             \
    const ssize_t fits = take(fd, size);                                   \
    return fits < 0 ? -1 : real(fd, bytes, static_cast<size_t>(fits), at); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)
