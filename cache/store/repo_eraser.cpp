#include "cache/store/repo_eraser.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/escape.h"

namespace hf::cache {

namespace fs = std::filesystem;

RepoEraser::RepoEraser(const fs::path& home)
    : home_path_(home), home_(std::make_shared<Folder>(home.string(), Folder::Links::trusted)) {}

void RepoEraser::fail(const std::string& path, int code) const {
  throw system_error(shown(home_path_ / path), code);
}

RepoEraser::Place RepoEraser::find(const std::string& path) const {
  std::shared_ptr<const Folder> folder = home_;
  std::size_t begin = 0;
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', begin)) {
    const std::string part = path.substr(begin, slash - begin);
    const bool may_be_link = begin == 0 && (part == "blobs" || part == "snapshots");
    folder =
        std::make_shared<Folder>(*folder, part, may_be_link ? Folder::Links::trusted : Folder::Links::refuse);
    begin = slash + 1;
  }
  return {folder, path.substr(begin)};
}

bool RepoEraser::unlink(const std::string& path) const {
  const Place at = find(path);
  if (!at.folder->is_open()) return false;
  if (unlinkat(at.folder->fd(), at.name.c_str(), 0) == 0) return true;
  if (errno != ENOENT) fail(path, errno);
  return false;
}

bool RepoEraser::remove_folder(const std::string& path) const {
  const Place at = find(path);
  return at.folder->is_open() && unlinkat(at.folder->fd(), at.name.c_str(), AT_REMOVEDIR) == 0;
}

void RepoEraser::remove_tree(const std::string& path) const {
  const Place at = find(path);
  if (!at.folder->is_open()) return;
  const fs::path tree = "/proc/self/fd/" + std::to_string(at.folder->fd()) + "/" + at.name;
  std::error_code error;
  for (int tries = 0; tries < 100; ++tries) {  // another process may be removing it as well
    fs::remove_all(tree, error);
    if (error != std::errc::no_such_file_or_directory && error != std::errc::directory_not_empty) break;
  }
  if (error) fail(path, error.value());
}

int RepoEraser::rename(const std::string& path, const std::string& new_path) const {
  const Place from = find(path), to = find(new_path);
  if (!from.folder->is_open() || !to.folder->is_open()) return ENOENT;
  return renameat(from.folder->fd(), from.name.c_str(), to.folder->fd(), to.name.c_str()) == 0 ? 0 : errno;
}

bool RepoEraser::link(const std::string& path, const std::string& new_path) const {
  const Place from = find(path), to = find(new_path);
  return from.folder->is_open() && to.folder->is_open() &&
         linkat(from.folder->fd(), from.name.c_str(), to.folder->fd(), to.name.c_str(), 0) == 0;
}

std::optional<EntryInfo> RepoEraser::info(const std::string& path) const {
  const Place at = find(path);
  return at.folder->is_open() ? at.folder->info(at.name) : std::nullopt;
}

bool RepoEraser::exists(const std::string& path) const { return info(path).has_value(); }

std::optional<std::string> RepoEraser::text(const std::string& path, std::size_t limit) const {
  const Place at = find(path);
  return at.folder->is_open() ? at.folder->text(at.name, limit) : std::nullopt;
}

int RepoEraser::open_file(const std::string& path, int flags) const {
  const Place at = find(path);
  if (at.folder->is_open()) return openat(at.folder->fd(), at.name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
  errno = ENOENT;
  return -1;
}

void RepoEraser::sync(const std::string& folder) const {
  const Place at = find(folder.empty() ? "x" : folder + "/x");
  if (at.folder->is_open() && fsync(at.folder->fd()) != 0 && errno != EINVAL)  // EINVAL: not supported there
    fail(folder, errno);
}

}  // namespace hf::cache
