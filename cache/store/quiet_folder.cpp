#include "cache/store/quiet_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/escape.h"

namespace hf::cache {
namespace {

struct Closer {
  void operator()(DIR* folder) const { closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, Closer>;

OpenFolder open_quietly(const char* path, int flags) {
  flags |= O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int fd = open(path, flags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = open(path, flags);  // another user's folder
  if (fd < 0) return nullptr;
  OpenFolder folder(fdopendir(fd));
  if (folder == nullptr) close(fd);
  return folder;
}

bool is_folder(DIR* parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info {};
  return fstatat(dirfd(parent), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

// Calls see(name, is a folder) for each entry; the error number where the folder cannot be read, else 0.
template <class See>
int for_each_entry(const std::string& path, int flags, const See& see) {
  const OpenFolder folder = open_quietly(path.c_str(), flags);
  if (folder == nullptr) return errno;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr) return errno;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") see(name, is_folder(folder.get(), *entry));
  }
}

}  // namespace

FolderListing list_below(const std::filesystem::path& folder) {
  FolderListing listing;
  std::vector<std::string> waiting = {""};
  while (!waiting.empty()) {
    const std::string prefix = std::move(waiting.back());
    waiting.pop_back();
    const int code = for_each_entry((folder / prefix).string(), prefix.empty() ? 0 : O_NOFOLLOW,
                                    [&](const std::string& name, bool is_folder) {
                                      if (is_folder)
                                        waiting.push_back(prefix + name + "/");
                                      else
                                        listing.files.push_back(prefix + name);
                                    });
    if (code != 0 && !(prefix.empty() && code == ENOENT))
      listing.unreadable.emplace_back(prefix, std::strerror(code));
  }
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const int code =
      for_each_entry(folder.string(), 0, [&](const std::string& name, bool) { names.push_back(name); });
  if (code != 0 && code != ENOENT)
    throw Error(ErrorKind::io, escaped(folder.string(), 4096) + ": " + std::strerror(code));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hf::cache
