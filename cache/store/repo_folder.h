// One repository's folder of the cache, for writing. Nobody ever sees a wrong or half blob, link or ref: each
// gets its name when it is whole.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/hub/answers.h"
#include "cache/store/file_lock.h"
#include "cache/store/store.h"

namespace hf::cache {

class RepoFolder {
 public:
  RepoFolder(const Store& store, const Repo& repo);

  void make() const;  // the folders, and the root's CACHEDIR.TAG

  std::filesystem::path blobs() const { return home_ / "blobs"; }
  std::filesystem::path blob(const TreeFile& file) const { return blobs() / file.etag(); }
  std::filesystem::path snapshot(std::string_view commit) const { return home_ / "snapshots" / commit; }

  // A regular file of the right size under its etag (or huggingface_hub's link into the cache-wide blobs/).
  bool has_blob(const TreeFile& file) const;
  // The snapshot's path leads to such a blob, as a link or as a file where links are not possible.
  bool has_file(std::string_view commit, const TreeFile& file) const;

  FileLock lock(const TreeFile& file) const;  // waits

  void make_snapshot(std::string_view commit) const;
  void link(std::string_view commit, const TreeFile& file) const;
  void write_tree(std::string_view commit, const std::vector<TreeFile>& files) const;
  std::optional<std::vector<TreeFile>> read_tree(
      std::string_view commit) const;  // nothing where there is none
  // After everything that was written so far is durable.
  void write_ref(std::string_view revision, std::string_view commit) const;

  void sync() const;  // everything on the cache's file system (syncfs)

 private:
  std::filesystem::path root_, home_;
};

}  // namespace hf::cache
