// The folders below a root, made and opened once and kept open: thousands of files get their names through a
// few descriptors, and no name from a stranger leads out.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cache/store/open_file.h"

namespace hf::cache {

class Folders {
 public:
  // What a symbolic link in the place of a folder is: refused, or followed where it leads to a folder below
  // the root.
  enum class InnerLinks { refused, followed };

  explicit Folders(std::filesystem::path root, InnerLinks inner_links = InnerLinks::refused);

  // Where a file stands: its folder, open, and its name there.
  struct Place {
    std::shared_ptr<const OpenFile> folder;
    std::string name;

    int fd() const { return folder->get(); }
    const char* c_str() const { return name.c_str(); }
  };

  // Of root/path, whose folders are made where they are missing, the root too. Error{integrity} when a link
  // would lead out, Error{io} when a folder cannot be made. From any thread.
  Place make(std::string_view path);
  // Nothing where a folder is missing or is none.
  std::optional<Place> find(std::string_view path);

  void sync();  // the names that were given through make() since the last time are on the disk

  const std::filesystem::path& root() const { return root_; }

 private:
  enum class Missing { makes, tells };
  using Handle = std::shared_ptr<const OpenFile>;

  Handle open(const std::string& folder, Missing missing);  // nullptr: missing, and not to be made
  Handle open_root(Missing missing);
  Handle open_new(const std::string& folder, Missing missing);
  Handle open_linked(const std::string& folder, int code) const;

  std::filesystem::path root_;
  InnerLinks inner_links_;
  std::mutex mutex_;
  std::map<std::string, Handle, std::less<>> kept_;  // by path below the root; "" is the root
  std::set<std::string, std::less<>> touched_;
};

}  // namespace hf::cache
