#include "cache/store/content_copy.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/escape.h"
#include "base/progress.h"

namespace hf::cache {
namespace {

constexpr std::size_t kStep = 16u << 20;  // bytes between two looks whether the user stops the program

// Whether all was copied in the kernel; false where it cannot, with what it did copy behind the positions of
// both.
bool copy_in_kernel(int from, int to, const std::filesystem::path& path) {
  for (bool any = false;; any = true) {
    check_interrupted();
    const ssize_t copied = copy_file_range(from, nullptr, to, nullptr, kStep, 0);
    if (copied == 0) return any;  // nothing at all: perhaps a file system that only pretends to be able
    if (copied > 0 || errno == EINTR) continue;
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO || errno == EFBIG)
      throw system_error(shown(path), errno);
    return false;
  }
}

void write_whole(int to, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_error(shown(path), written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

void copy_content(int from, int to, const std::filesystem::path& path) {
  if (ioctl(to, FICLONE, from) == 0) return;
  if (copy_in_kernel(from, to, path)) return;
  std::vector<std::byte> buffer(1u << 20);
  while (true) {
    check_interrupted();
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(shown(path), errno);
    if (got == 0) return;
    write_whole(to, std::span(buffer).first(static_cast<std::size_t>(got)), path);
  }
}

}  // namespace hf::cache
