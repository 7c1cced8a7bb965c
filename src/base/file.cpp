#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

int open_any(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw system_error(shown(path), errno);
  return fd;
}

struct stat regular_info(int fd, const std::filesystem::path& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    throw Error(ErrorKind::integrity, shown(path) + ": is no regular file, a file is expected");
  return info;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : MappedFile(Descriptor{open_any(path)}.fd, path) {}

MappedFile::MappedFile(int descriptor, const std::filesystem::path& path) : path_(path) {
  size_ = static_cast<std::size_t>(regular_info(descriptor, path).st_size);
  if (size_ == 0) return;
  void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) throw system_error(shown(path), errno);
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::drop(std::size_t offset, std::size_t length) const {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin =
      (offset + page - 1) / page * page;  // whole pages only: the neighbours may be in use
  const std::size_t end = std::min(offset + length, size_) / page * page;
  if (begin < end) madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

AtomicFile::AtomicFile(std::filesystem::path path, unsigned mode) : path_(std::move(path)) {
  struct stat info {};  // a rename would put a file in the place of a device or a pipe
  if (stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw Error(ErrorKind::usage, shown(path_) + ": is there and is not a regular file");
  static std::atomic<unsigned> counter{0};
  const std::string name = path_.filename().string().substr(0, 200);  // a part has at most 255 bytes
  do {  // a killed process with our id, as containers have, may have left our next names behind
    temporary_ = path_.parent_path() /
                 ("." + name + "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".tmp");
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) throw Error(ErrorKind::io, system_error(shown(path_), errno).what());  // also a missing folder
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_error(shown(path_), written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::pad_to(std::uint64_t offset) {
  static constexpr std::byte kZeros[4096] = {};
  while (size_ < offset)
    write(std::span(kZeros).first(std::min<std::uint64_t>(sizeof kZeros, offset - size_)));
}

void AtomicFile::commit() {
  if (fsync(fd_) != 0) throw system_error(shown(path_), errno);
  if (close(std::exchange(fd_, -1)) != 0) throw system_error(shown(path_), errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) throw system_error(shown(path_), errno);
  temporary_.clear();
  sync_folder(path_.parent_path());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::filesystem::path behind_link(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(path, failed)) return path;
  std::filesystem::path target = std::filesystem::canonical(path, failed);
  if (failed)
    throw Error(ErrorKind::usage, shown(path) +
                                      ": is a link that leads nowhere, a file or a link to one is "
                                      "expected");
  return target;
}

std::string read_text(const std::filesystem::path& path, std::uint64_t limit) {
  const Descriptor file{open_any(path)};
  const struct stat info = regular_info(file.fd, path);
  if (static_cast<std::uint64_t>(info.st_size) > limit)
    throw Error(ErrorKind::integrity, shown(path) + ": has " + std::to_string(info.st_size) +
                                          " bytes, at most " + std::to_string(limit) + " are read");
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = read(file.fd, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(shown(path), errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path here = folder.empty() ? "." : folder;
  const Descriptor file{open(here.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (file.fd < 0) throw system_error(shown(here), errno);
  if (fsync(file.fd) != 0 && errno != EINVAL)
    throw system_error(shown(here), errno);  // EINVAL: not supported there
}

}  // namespace hf
