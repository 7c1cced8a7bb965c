#include "cache/store/folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "base/escape.h"
#include "base/path_rules.h"
#include "base/safe_dir.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 64;  // of the 1,024 descriptors that a process usually has
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool means_missing(int code) { return code == ENOENT || code == ENOTDIR; }

}  // namespace

Folders::Folders(fs::path root, InnerLinks inner_links) : root_(std::move(root)), inner_links_(inner_links) {}

Folders::Place Folders::make(std::string_view path) {
  check_relative_path(path);
  const std::size_t slash = path.rfind('/');
  const std::string folder(path.substr(0, slash == std::string_view::npos ? 0 : slash));
  const std::lock_guard lock(mutex_);
  Place place{open(folder, Missing::makes), std::string(path.substr(slash + 1))};
  if (!touched_.contains(folder)) touched_.insert(folder);
  return place;
}

std::optional<Folders::Place> Folders::find(std::string_view path) {
  check_relative_path(path);
  const std::size_t slash = path.rfind('/');
  const std::string folder(path.substr(0, slash == std::string_view::npos ? 0 : slash));
  const std::lock_guard lock(mutex_);
  Handle handle;
  try {
    handle = open(folder, Missing::tells);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::integrity) return std::nullopt;  // what leads out is not there for us
    throw;
  }
  if (!handle) return std::nullopt;
  return Place{std::move(handle), std::string(path.substr(slash + 1))};
}

void Folders::sync() {
  const std::lock_guard lock(mutex_);
  for (const std::string& folder : touched_) {
    const Handle handle = open(folder, Missing::tells);
    // EINVAL: not supported there
    if (handle && fsync(handle->get()) != 0 && errno != EINVAL)
      throw system_error(shown(root_ / folder), errno);
  }
  touched_.clear();
}

Folders::Handle Folders::open(const std::string& folder, Missing missing) {
  if (const auto at = kept_.find(folder); at != kept_.end()) return at->second;
  Handle handle = folder.empty() ? open_root(missing) : open_new(folder, missing);
  if (!handle) return nullptr;
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_[folder] = handle;
  return handle;
}

Folders::Handle Folders::open_root(Missing missing) {
  int fd = ::open(root_.c_str(), kFolder);
  if (fd < 0 && errno == ENOENT && missing == Missing::makes) {
    std::error_code error;
    fs::create_directories(root_, error);
    if (error) throw system_error(shown(root_), error.value());
    fd = ::open(root_.c_str(), kFolder);
  }
  if (fd < 0 && missing == Missing::tells && means_missing(errno)) return nullptr;
  if (fd < 0) throw system_error(shown(root_), errno);
  return std::make_shared<const OpenFile>(fd);
}

Folders::Handle Folders::open_new(const std::string& folder, Missing missing) {
  const std::size_t slash = folder.rfind('/');
  const std::string above = folder.substr(0, slash == std::string::npos ? 0 : slash);
  const std::string name = folder.substr(slash + 1);
  const Handle parent = open(above, missing);
  if (!parent) return nullptr;
  int fd = openat(parent->get(), name.c_str(), kFolder | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT && missing == Missing::makes) {
    if (mkdirat(parent->get(), name.c_str(), 0777) != 0 && errno != EEXIST)
      throw system_error(shown(root_ / folder), errno);
    touched_.insert(above);
    fd = openat(parent->get(), name.c_str(), kFolder | O_NOFOLLOW);
  }
  if (fd >= 0) return std::make_shared<const OpenFile>(fd);
  const int code = errno;
  struct stat info {};
  if (fstatat(parent->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
    return open_linked(folder, code);
  if (missing == Missing::tells && means_missing(code)) return nullptr;
  throw system_error(shown(root_ / folder), code);
}

Folders::Handle Folders::open_linked(const std::string& folder, int code) const {
  if (inner_links_ == InnerLinks::refused)
    throw Error(ErrorKind::integrity, shown(root_ / folder) + ": is a link, a folder is expected");
  if (code != ELOOP && code != ENOTDIR) throw system_error(shown(root_ / folder), code);
  return std::make_shared<const OpenFile>(SafeDir(root_).open(folder, O_RDONLY | O_DIRECTORY));
}

}  // namespace hf::cache
