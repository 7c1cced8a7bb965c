// A folder of the user's that files are downloaded into (--local-dir), with the notes that huggingface_hub
// keeps in it:
//
//   <folder>/<path>                                         the files, no links
//   <folder>/.cache/huggingface/.gitignore, CACHEDIR.TAG
//                               download/<path>.metadata    local_metadata.h
//                               download/<path>.lock
//                               download/<etag>.<8 hex>.part
//                               trees/<commit>.json
//
// A file counts as there when its note says so and it was not changed since, or else when it has the hash.
// Content that is in the cache is copied from it. The ref is written to the cache, as huggingface_hub does.
#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/mirror/local_metadata.h"
#include "cache/mirror/target.h"
#include "cache/store/folders.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {

class LocalTarget : public Target {
 public:
  // `folder` need not exist. `tree`: all files of the commit; nothing when only some were asked for by name:
  // then neither list nor ref is written. `cache` must outlive the target.
  LocalTarget(std::filesystem::path folder, const RepoFolder& cache, std::string commit,
              std::optional<std::vector<TreeFile>> tree);

  // in_blobs: the file is right but not noted for this commit, or its content is in the cache.
  // Error{integrity} for a path among the notes. May hash the file.
  FileState state_of(const TreeFile& file) const override;
  std::filesystem::path parts() const override { return notes_ / "download"; }
  std::optional<FileLock> try_lock(const TreeFile& file) const override;
  void link(const TreeFile& file) override;
  void place(const std::filesystem::path& part, std::span<const TreeFile* const> links,
             std::string_view sha256) override;
  void sync() const override;
  void prepare() override;
  bool is_finished(std::string_view revision) const override;
  std::filesystem::path path() const override;  // canonical where the folder is there
  std::filesystem::path finish(std::string_view revision) override;

 private:
  // A file that was found right, as it was then.
  struct Seen {
    ino_t inode = 0;
    off_t size = 0;
    timespec changed{};
    bool operator==(const struct stat& info) const;
  };

  std::optional<LocalMetadata> note_of(const TreeFile& file) const;
  bool is_as_seen(const TreeFile& file) const;
  bool is_in_cache(const TreeFile& file) const;
  void copy_from_cache(const TreeFile& file);
  void copy(int from, const TreeFile& file);
  void give_name(int folder, const char* name, const TreeFile& file);
  void write_note(const TreeFile& file, const struct stat& known);
  bool has_list() const;
  std::filesystem::path list() const { return notes_ / "trees" / (commit_ + ".json"); }

  std::filesystem::path folder_, notes_;
  const RepoFolder& cache_;
  const std::string commit_;
  const std::optional<std::vector<TreeFile>> tree_;
  mutable Folders files_, downloads_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Seen, std::less<>> seen_;  // by path
};

}  // namespace hf::cache
