#include "cache/mirror/cache_target.h"

#include <utility>

#include "base/error.h"

namespace hf::cache {

namespace fs = std::filesystem;

CacheTarget::CacheTarget(const Store& store, const Repo& repo, std::string commit,
                         std::optional<std::vector<TreeFile>> tree)
    : store_(store),
      repo_(repo),
      commit_(std::move(commit)),
      tree_(std::move(tree)),
      folder_(store_, repo_),
      is_new_(!folder_.is_there()) {}

FileState CacheTarget::state_of(const TreeFile& file) const {
  if (is_new_) return FileState::missing;
  if (folder_.has_file(commit_, file)) return FileState::present;
  return folder_.has_blob(file) ? FileState::in_blobs : FileState::missing;
}

fs::path CacheTarget::parts() const { return folder_.blobs(); }

std::optional<FileLock> CacheTarget::try_lock(const TreeFile& file) const { return folder_.try_lock(file); }

void CacheTarget::link(const TreeFile& file) { folder_.link(commit_, file); }

void CacheTarget::place(const fs::path& part, std::span<const TreeFile* const> links,
                        std::string_view sha256) {
  folder_.place(commit_, part, links, sha256);
}

void CacheTarget::sync() const { folder_.sync(); }

void CacheTarget::prepare() {
  is_new_ = false;
  folder_.make();
  folder_.make_snapshot(commit_);  // also of a revision without files
}

bool CacheTarget::is_finished(std::string_view revision) const {
  std::error_code ignored;
  if (!fs::is_directory(folder_.snapshot(commit_), ignored)) return false;
  if (!revision.empty() && store_.commit_of(repo_, revision) != commit_) return false;
  return !tree_ || folder_.has_tree(commit_, *tree_);
}

fs::path CacheTarget::finish(std::string_view revision) {
  // The list of a commit's files never changes; one that cannot be read is written again.
  if (tree_ && !folder_.has_tree(commit_, *tree_)) folder_.write_tree(commit_, *tree_);
  folder_.sync();  // a ref must not outlive what it stands for
  if (!revision.empty()) folder_.write_ref(revision, commit_);
  return path();
}

}  // namespace hf::cache
