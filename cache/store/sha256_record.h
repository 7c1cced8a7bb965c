// Which sha256 the contents have that the cache names by git's sha1: noted when they arrive, for bundles,
// which do not rely on sha1. It stands beside the lock files, where huggingface_hub looks for nothing.
//
//   .locks/<repository's folder>/sha256     lines "<git sha1> <sha256>\n"
#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cache/store/open_file.h"

namespace hf::cache {

class Sha256Record {
 public:
  explicit Sha256Record(std::filesystem::path file) : file_(std::move(file)) {}

  // Appends a line unless it is there; where the record is closed to us, or its folder missing, nothing is
  // noted. Error{usage} unless both are hashes; Error{io}. From any thread.
  void add(std::string_view git_sha1, std::string_view sha256);
  std::optional<std::string> find(std::string_view git_sha1);  // the last one noted

 private:
  void read();
  bool open();

  std::filesystem::path file_;
  std::mutex mutex_;
  bool is_read_ = false;
  std::map<std::string, std::string, std::less<>> known_;
  OpenFile appended_;
};

}  // namespace hf::cache
