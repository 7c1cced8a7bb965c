#include "cache/mirror/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "cache/mirror/leftovers.h"
#include "cache/store/file_lock.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kMode = 0666;  // the umask decides, as for every file of the cache

fs::path journal_of(const fs::path& part) { return part.string() + ".journal"; }

std::string random_digits() {
  static thread_local std::random_device random;
  constexpr char kHex[] = "0123456789abcdef";
  std::string digits;
  for (int i = 0; i < 8; ++i) digits += kHex[random() & 15];
  return digits;
}

std::string part_name(const TreeFile& file, std::string_view digits) {
  return file.etag() + "." + std::string(digits) + std::string(kPartSuffix);
}

// What was written so far; all of `bytes` unless the system says why not, which is in errno then.
bool write_all(int fd, std::span<const std::byte> bytes, off_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
  return true;
}

bool rename_to_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  return (errno == EINVAL || errno == ENOSYS) && rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace

PartFile PartFile::create(const fs::path& folder, const TreeFile& file) {
  PartFile part;
  while (part.fd_ < 0) {
    part.path_ = folder / part_name(file, random_digits());
    // The journal first: a file of a process that was killed in between tells nobody whose it was.
    part.open_journal(journal_head(file.etag(), file.size) + owner_line(this_process()));
    part.fd_ = open(part.path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode);
    if (part.fd_ >= 0) break;
    const int code = errno;
    if (code != EEXIST) unlink(journal_of(part.path_).c_str());
    part.close_files();
    if (code != EEXIST) throw system_error(shown(part.path_), code);
  }
  claim(part.fd_);
  return part;
}

std::optional<PartFile> PartFile::take_over(const fs::path& path, const TreeFile& file, Journal& journal) {
  PartFile part;
  part.fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  part.noted_ = true;  // whatever becomes of this, it is not ours to delete
  const auto said = read_journal(path);
  if (part.fd_ < 0 || !said || said->etag != file.etag() || said->size != file.size ||
      !is_left(part.fd_, path, said))
    return std::nullopt;
  part.path_ = path.parent_path() / part_name(file, random_digits());
  // The journal has both names for a moment: whoever is killed here leaves a whole pair. Of two processes on
  // machines that share no locks one renames the file.
  const bool linked = ::link(journal_of(path).c_str(), journal_of(part.path_).c_str()) == 0;
  if (!rename_to_new(path, part.path_)) {
    if (linked) unlink(journal_of(part.path_).c_str());
    return std::nullopt;
  }
  if (linked)
    unlink(journal_of(path).c_str());
  else
    rename(journal_of(path).c_str(), journal_of(part.path_).c_str());
  part.open_journal("\n" + owner_line(this_process()));  // the last line of a killed process may have no end
  journal = *said;
  return part;
}

fs::path PartFile::write_whole(int folder, const fs::path& folder_path, const TreeFile& file,
                               std::span<const std::byte> bytes) {
  std::string name = part_name(file, process_digits());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  int fd = openat(folder, name.c_str(), kFlags, kMode);
  while (fd < 0 && errno == EEXIST) {
    name = part_name(file, random_digits());
    fd = openat(folder, name.c_str(), kFlags, kMode);
  }
  fs::path path = folder_path / name;
  if (fd < 0) throw system_error(shown(path), errno);
  const bool written = write_all(fd, bytes, 0);
  const int code = written ? 0 : errno;
  const bool closed = close(fd) == 0;
  if (written && closed) return path;
  const int why = written ? errno : code;
  unlinkat(folder, name.c_str(), 0);
  throw system_error(shown(path), why);
}

PartFile::~PartFile() {
  if (fd_ < 0) return;
  if (!noted_ && is_ours()) {
    discard();
    return;
  }
  close_files();
}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      journal_fd_(std::exchange(other.journal_fd_, -1)),
      noted_(other.noted_) {}

PartFile& PartFile::operator=(PartFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(journal_fd_, other.journal_fd_);
  std::swap(noted_, other.noted_);
  return *this;
}

bool PartFile::is_ours() const {
  struct stat open_one {
  }, named{};
  return fstat(fd_, &open_one) == 0 && lstat(path_.c_str(), &named) == 0 && open_one.st_ino == named.st_ino &&
         open_one.st_dev == named.st_dev;
}

void PartFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (!write_all(fd_, bytes, static_cast<off_t>(offset))) throw system_error(shown(path_), errno);
}

void PartFile::sync() const {
  if (fdatasync(fd_) != 0) throw system_error(shown(path_), errno);
}

void PartFile::note(const PrefixMark& mark) { append_line(prefix_line(mark)); }
void PartFile::note(const BlockMark& mark) { append_line(block_line(mark)); }

void PartFile::open_journal(const std::string& head) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  journal_fd_ = open(journal_of(path_).c_str(), kFlags, kMode);
  const bool noted = noted_;
  append_line(head);
  noted_ = noted;
}

// One write a line, appended by the kernel: lines of several threads do not mix.
void PartFile::append_line(const std::string& line) {
  if (journal_fd_ < 0) return;
  ssize_t written = -1;
  do written = ::write(journal_fd_, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  noted_ = noted_ || written == static_cast<ssize_t>(line.size());
}

void PartFile::publish() {
  unlink(journal_of(path_).c_str());
  close_files();
}

void PartFile::discard() {
  unlink(path_.c_str());
  unlink(journal_of(path_).c_str());
  close_files();
}

void PartFile::close_files() {
  if (journal_fd_ >= 0) close(std::exchange(journal_fd_, -1));
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace hf::cache
