#include "cache/store/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace hf::cache {
namespace {

// Only the owner of a file may ask for O_NOATIME.
int open_quietly(int folder, const char* path, int flags) {
  const int fd = openat(folder, path, flags | O_RDONLY | O_CLOEXEC | O_NOATIME);
  return fd >= 0 || errno != EPERM ? fd : openat(folder, path, flags | O_RDONLY | O_CLOEXEC);
}

// The link is looked at and followed as the one that is open, whatever stands there by then.
int open_trusted_link(int folder, const std::string& path) {
  const int link = openat(folder, path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0) return -1;
  struct stat info {};
  std::array<char, 4096> target{};
  const bool is_link = fstat(link, &info) == 0 && S_ISLNK(info.st_mode);
  const ssize_t length = is_link ? readlinkat(link, "", target.data(), target.size() - 1) : 0;
  close(link);
  errno = is_link ? ELOOP : ENOTDIR;
  if (length <= 0 || (info.st_uid != geteuid() && info.st_uid != 0)) return -1;
  std::string to(target.data(), static_cast<std::size_t>(length));
  if (to[0] != '/') to.insert(0, path.substr(0, path.rfind('/') + 1));
  return open_quietly(folder, to.c_str(), O_DIRECTORY);
}

int open_folder(int above, const std::string& path, Folder::Links links) {
  const int fd =
      open_quietly(above, path.c_str(), O_DIRECTORY | (links == Folder::Links::follow ? 0 : O_NOFOLLOW));
  if (fd >= 0 || links != Folder::Links::trusted || (errno != ENOTDIR && errno != ELOOP)) return fd;
  return open_trusted_link(above, path);
}

FileTime time_of(const timespec& time) {
  return FileTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

EntryKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  if (S_ISDIR(mode)) return EntryKind::folder;
  return S_ISLNK(mode) ? EntryKind::link : EntryKind::other;
}

EntryInfo info_of(const struct stat& info) {
  return {kind_of_mode(info.st_mode), static_cast<std::uint64_t>(info.st_size), time_of(info.st_atim),
          time_of(info.st_mtim), time_of(info.st_ctim)};
}

std::optional<EntryInfo> info_at(int folder, const std::string& name, int flags) {
  struct stat info {};
  if (fstatat(folder, name.c_str(), &info, flags) != 0) return std::nullopt;
  return info_of(info);
}

// Some file systems do not tell the kind when they list.
EntryKind kind_of_entry(int folder, const dirent64& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return EntryKind::file;
    case DT_DIR:
      return EntryKind::folder;
    case DT_LNK:
      return EntryKind::link;
    case DT_UNKNOWN: {
      const auto info = info_at(folder, entry.d_name, AT_SYMLINK_NOFOLLOW);
      return info ? info->kind : EntryKind::other;
    }
    default:
      return EntryKind::other;
  }
}

}  // namespace

Folder::Folder(const std::string& path, Links links)
    : fd_(open_folder(AT_FDCWD, path, links)), error_(fd_ < 0 ? errno : 0) {}

Folder::Folder(const Folder& above, const std::string& path, Links links)
    : fd_(above.is_open() ? open_folder(above.fd_, path, links) : -1),
      error_(fd_ >= 0 ? 0 : (above.is_open() ? errno : above.error_)) {}

Folder::~Folder() {
  if (fd_ >= 0) close(fd_);
}

std::vector<FolderEntry> Folder::entries() {
  std::vector<FolderEntry> found;
  if (fd_ < 0 || lseek(fd_, 0, SEEK_SET) < 0) return found;
  alignas(dirent64) std::array<char, 64 << 10> buffer;
  while (true) {
    const ssize_t bytes = getdents64(fd_, buffer.data(), buffer.size());
    if (bytes < 0) error_ = errno;
    if (bytes <= 0) break;
    for (ssize_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") found.push_back({std::string(name), kind_of_entry(fd_, *entry)});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return found;
}

EntryInfo Folder::info() const {
  struct stat info {};
  return fd_ >= 0 && fstat(fd_, &info) == 0 ? info_of(info) : EntryInfo{};
}

std::optional<EntryInfo> Folder::info(const std::string& name) const {
  return info_at(fd_, name, AT_SYMLINK_NOFOLLOW);
}

std::optional<EntryInfo> Folder::target_info(const std::string& name) const { return info_at(fd_, name, 0); }

std::string Folder::link_target(const std::string& name) const {
  std::array<char, 4096> target;
  const ssize_t length = readlinkat(fd_, name.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::optional<std::string> Folder::text(const std::string& name, std::size_t limit) const {
  const int fd = open_quietly(fd_, name.c_str(), O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat info {};
  std::optional<std::string> text;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && static_cast<std::size_t>(info.st_size) <= limit) {
    text.emplace(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t done = 0;
    while (done < text->size()) {
      const ssize_t got = read(fd, text->data() + done, text->size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    text->resize(done);
  }
  close(fd);
  return text;
}

}  // namespace hf::cache
