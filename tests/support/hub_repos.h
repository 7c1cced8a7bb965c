// A folder of plain files as the repositories of a Hub:
//
//   <root>/<org>/<name>/…              revision main of a model
//   <root>/<org>/<name>@<revision>/…   another one ("%2F" for "/")
//   <root>/datasets/<org>/<name>/…     and spaces/
//   <root>/_/<name>/…                  one without a namespace
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace hf::test {

struct HubFile {
  std::filesystem::path source;
  std::uint64_t size = 0;
  std::string git_oid;  // of the file, or of its LFS pointer
  std::string sha256;   // LFS only
  std::uint64_t pointer_size = 0;
  std::string xet_hash;  // of the right shape; empty where the file is in no Xet store

  bool is_lfs() const { return !sha256.empty(); }
  const std::string& etag() const { return is_lfs() ? sha256 : git_oid; }
};

struct HubRevision {
  std::string commit;  // 40 hex digits computed from all paths and contents
  std::map<std::string, HubFile> files;
};

class HubRepos {
 public:
  // A file is LFS when it is longer than `lfs_threshold` or is called *.safetensors, *.bin, *.h5, *.onnx or
  // *.msgpack. An LFS file with ".xet" before its suffix has a Xet hash as well.
  explicit HubRepos(std::filesystem::path root, std::uint64_t lfs_threshold = 10u << 20);

  // `type` is "models", "datasets" or "spaces". nullptr where there is no such repository or revision. Read
  // at the first use and then kept: a change of the files is seen after forget().
  std::shared_ptr<const HubRevision> find(const std::string& type, const std::string& id,
                                          const std::string& revision);
  bool has_repo(const std::string& type, const std::string& id) const;
  std::map<std::string, std::string> refs(const std::string& type, const std::string& id);  // name -> commit
  void forget();

 private:
  std::filesystem::path folder(const std::string& type, const std::string& id) const;
  std::shared_ptr<const HubRevision> load(const std::filesystem::path& folder);

  std::filesystem::path root_;
  std::uint64_t lfs_threshold_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const HubRevision>> loaded_;
};

}  // namespace hf::test
