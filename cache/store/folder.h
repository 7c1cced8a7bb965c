// A folder by its descriptor, listed at once and looked into by name: what reading a whole cache spends its
// time on. Nothing here changes an access time where the system lets it be.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hf::cache {

using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;

enum class EntryKind { file, folder, link, other };

struct FolderEntry {
  std::string name;
  EntryKind kind;
};

struct EntryInfo {
  EntryKind kind = EntryKind::other;
  std::uint64_t bytes = 0;
  FileTime used, modified, changed;  // atime, mtime, ctime

  FileTime newest() const { return modified > changed ? modified : changed; }
};

class Folder {
 public:
  // Where the last part of the path is a link. One is trusted that this user or root has made: in a cache
  // that others write to, theirs could lead anywhere.
  enum class Links { follow, trusted, refuse };

  // What cannot be opened holds nothing, and error() says why.
  explicit Folder(const std::string& path, Links links = Links::refuse);
  Folder(const Folder& above, const std::string& path, Links links = Links::refuse);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int error() const { return error_; }  // errno, ELOOP for a link that is not trusted; 0 when it is open
  int fd() const { return fd_; }

  // Sorted by name. What was listed until an error is returned, and error() says that there was one.
  std::vector<FolderEntry> entries();

  EntryInfo info() const;
  std::optional<EntryInfo> info(const std::string& name) const;         // of what stands there itself
  std::optional<EntryInfo> target_info(const std::string& name) const;  // of what a link there leads to
  std::string link_target(const std::string& name) const;               // empty: no link
  // A regular file of at most `limit` bytes.
  std::optional<std::string> text(const std::string& name, std::size_t limit) const;

 private:
  int fd_ = -1, error_ = 0;
};

}  // namespace hf::cache
