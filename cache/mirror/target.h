// Where verified files of one revision go: the cache, or a folder of the user's (--local-dir).
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "cache/hub/answers.h"
#include "cache/store/file_lock.h"

namespace hf::cache {

// in_blobs: the content is there, only the name is missing.
enum class FileState { missing, in_blobs, present };

// place(), link() and sync() are called by a thread of their own, one call at a time; all others by the
// thread that downloads.
class Target {
 public:
  virtual ~Target() = default;
  virtual FileState state_of(const TreeFile& file) const = 0;
  virtual std::filesystem::path parts() const = 0;  // folder of the partial files <etag>.<8 hex>.part
  // Nothing: another process has it.
  virtual std::optional<FileLock> try_lock(const TreeFile& file) const = 0;
  virtual void link(const TreeFile& file) = 0;  // of a file that is in_blobs
  // Gives a verified partial file, whose bytes are on the disk, its name(s); `links`: the paths with that
  // content. `sha256`: of the content, also for git files.
  virtual void place(const std::filesystem::path& part, std::span<const TreeFile* const> links,
                     std::string_view sha256) = 0;
  virtual void sync() const = 0;  // all that was written is on the disk (one syncfs)
  virtual void prepare() = 0;     // folders that all this needs
  // All is there and nothing need be written: a cache may be mounted read-only. `revision`: as for finish().
  virtual bool is_finished(std::string_view revision) const = 0;
  virtual std::filesystem::path path() const = 0;  // to print: where the files can be read
  // List of files, ref last (none where `revision` is empty); returns path().
  virtual std::filesystem::path finish(std::string_view revision) = 0;
};

}  // namespace hf::cache
