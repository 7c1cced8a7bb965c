// One repository's folder of the cache, for writing. Nobody ever sees a wrong or half blob, link or ref: each
// gets its name when it is whole.
//
// It is a handle: its methods are const, may be called from any thread, and keep the folders open that they
// come through. Where a folder cannot be written to: Error{io} with its name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/hub/answers.h"
#include "cache/store/file_lock.h"
#include "cache/store/folders.h"
#include "cache/store/store.h"

namespace hf::cache {

class RepoFolder {
 public:
  RepoFolder(const Store& store, const Repo& repo);
  ~RepoFolder();

  const std::filesystem::path& home() const { return home_; }
  std::filesystem::path blobs() const { return home_ / "blobs"; }
  std::filesystem::path blob(const TreeFile& file) const { return blobs() / file.etag(); }
  std::filesystem::path snapshot(std::string_view commit) const { return home_ / "snapshots" / commit; }

  // A regular file of the right size under its etag, or huggingface_hub's link into the cache-wide blobs/.
  bool has_blob(const TreeFile& file) const;
  // The snapshot's path leads to such a blob; or is a file of the right size itself, where there are no
  // links.
  bool has_file(std::string_view commit, const TreeFile& file) const;

  FileLock lock(const TreeFile& file) const;                     // waits
  std::optional<FileLock> try_lock(const TreeFile& file) const;  // nothing: another process has it

  bool is_there() const;  // anything of the repository
  // The folders that a download needs before its first byte; removes what killed processes left half written
  // an hour ago or earlier.
  void make() const;
  void make_snapshot(std::string_view commit) const;

  // Whether the snapshots get links, found out once; the cache is tagged by then.
  bool can_link() const;
  // Of a blob that is there: a link to it, or a copy where there are no links.
  void link(std::string_view commit, const TreeFile& file) const;
  // Gives a checked file, whose bytes are on the disk, its name in blobs/ and its links, `files`: the paths
  // with that content. Where there are no links it is moved to the first path and copied to the others.
  // `sha256` of the content is recorded where git's sha1 names it.
  void place(std::string_view commit, const std::filesystem::path& part,
             std::span<const TreeFile* const> files, std::string_view sha256) const;
  // That the Hub has no such file at that commit. False where that could not be noted: it is a hint.
  bool mark_absent(std::string_view commit, std::string_view path) const;
  bool is_marked_absent(std::string_view commit, std::string_view path) const;

  void write_tree(std::string_view commit, const std::vector<TreeFile>& files) const;
  // Whether the list of the commit is there and can be read; `files`: what it should say.
  bool has_tree(std::string_view commit, const std::vector<TreeFile>& files) const;
  // Nothing where there is none; Error{integrity} for one that is damaged.
  std::optional<std::vector<TreeFile>> read_tree(std::string_view commit) const;
  // The ref says so, in exactly those bytes; a commit stands for itself.
  bool has_ref(std::string_view revision, std::string_view commit) const;
  // After everything that was written so far is durable. Nothing is written when it says so already, or when
  // `revision` is the commit itself.
  void write_ref(std::string_view revision, std::string_view commit) const;

  // The sha256 of a git file's content, where it was noted when the content arrived.
  std::optional<std::string> recorded_sha256(const TreeFile& file) const;
  void record_sha256(const TreeFile& file, std::string_view sha256) const;

  void sync() const;        // everything on the cache's file system (syncfs)
  void sync_names() const;  // the names that link() and place() gave (fsync of each folder)

 private:
  struct Opened;

  void tag_root() const;
  void put_blob_copy(std::string_view commit, const TreeFile& file) const;
  void put_copy(std::string_view commit, const TreeFile& file, int from) const;
  static void give_name(const Folders::Place& made, const Folders::Place& place,
                        const std::filesystem::path& path);

  std::filesystem::path root_, home_, locks_;
  Links links_;
  std::unique_ptr<Opened> opened_;
};

}  // namespace hf::cache
