// A folder that nothing named by a stranger can lead out of.
#pragma once
#include <filesystem>
#include <string_view>

namespace hf {

// Opens files below a folder with openat2(RESOLVE_BENEATH); where the kernel lacks it, part by part with
// O_NOFOLLOW. Names go through check_relative_path first.
class SafeDir {
 public:
  explicit SafeDir(const std::filesystem::path& root);
  ~SafeDir();
  SafeDir(const SafeDir&) = delete;
  SafeDir& operator=(const SafeDir&) = delete;

  // The descriptor of root/name, opened with `flags` (O_CLOEXEC is added); the caller closes it. Folders on
  // the way are made where `flags` has O_CREAT.
  int open(std::string_view name, int flags, unsigned mode = 0666) const;
  void make_folders(std::string_view name) const;  // the folders above root/name
  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
  int fd_;
};

}  // namespace hf
