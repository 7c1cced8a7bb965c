// Takes names out of one repository's folder. Each is reached through open folders with no link among them
// but those of the scan: in a cache that others write to as well, a link that one of them puts in the place
// of a folder leads nowhere.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cache/store/folder.h"

namespace hf::cache {

// Paths are below the repository's folder, "refs/pr/1". What is not there, or whose folder is not, is no
// error: another process may have removed it. Else Error{io}.
class RepoEraser {
 public:
  explicit RepoEraser(const std::filesystem::path& home);

  bool unlink(const std::string& path) const;         // whether it was there
  bool remove_folder(const std::string& path) const;  // whether it was there and empty
  void remove_tree(const std::string& path) const;
  // errno of a rename that failed; 0 when it did not.
  int rename(const std::string& path, const std::string& new_path) const;
  bool link(const std::string& path,
            const std::string& new_path) const;  // a second name; false when it failed

  bool exists(const std::string& path) const;
  std::optional<EntryInfo> info(const std::string& path) const;
  std::optional<std::string> text(const std::string& path, std::size_t limit) const;
  int open_file(const std::string& path, int flags) const;  // as open(2), a link is none

  void sync(const std::string& folder) const;  // its names are on the disk; "" is the repository's folder

 private:
  struct Place {
    std::shared_ptr<const Folder> folder;  // perhaps not open
    std::string name;
  };
  Place find(const std::string& path) const;
  [[noreturn]] void fail(const std::string& path, int code) const;

  std::filesystem::path home_path_;
  std::shared_ptr<const Folder> home_;
};

}  // namespace hf::cache
