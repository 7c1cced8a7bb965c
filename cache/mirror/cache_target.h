// The cache as the target of a download: blobs, and a snapshot of links to them.
#pragma once
#include <string>
#include <vector>

#include "cache/mirror/target.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {

class CacheTarget final : public Target {
 public:
  // `tree`: all files of the commit, for trees/<commit>.json; nothing where only some were asked about.
  CacheTarget(const Store& store, const Repo& repo, std::string commit,
              std::optional<std::vector<TreeFile>> tree);

  FileState state_of(const TreeFile& file) const override;
  std::filesystem::path parts() const override;
  std::optional<FileLock> try_lock(const TreeFile& file) const override;
  void link(const TreeFile& file) override;
  void place(const std::filesystem::path& part, std::span<const TreeFile* const> links,
             std::string_view sha256) override;
  void sync() const override;
  void prepare() override;
  bool is_finished(std::string_view revision) const override;
  std::filesystem::path path() const override { return folder_.snapshot(commit_); }
  std::filesystem::path finish(std::string_view revision) override;

 private:
  const Store store_;
  const Repo repo_;
  const std::string commit_;
  const std::optional<std::vector<TreeFile>> tree_;
  RepoFolder folder_;
  bool is_new_;  // nothing of the repository is there: no need to look for each file
};

}  // namespace hf::cache
