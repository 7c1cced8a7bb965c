// The lock files of huggingface_hub, taken as it takes them. They save work that two processes would do
// twice; nothing is wrong where a file system has no working locks.
//
// A lock is flock(2) on the file, which stays. Where the file system has no flock, the file's being there is
// the lock: made with the holder's name in it (soft_lock.h) and removed on release.
#pragma once
#include <filesystem>
#include <optional>

#include "cache/store/folders.h"
#include "cache/store/open_file.h"

namespace hf::cache {

class FileLock {
 public:
  // Waits until the lock is ours; ends with Error{interrupted} when the user stops the program. Goes on
  // without it where the lock file is closed to us, or is the mark of a holder that cannot be proved to live
  // and has said nothing for ten minutes.
  explicit FileLock(const std::filesystem::path& file);
  // Without waiting: nothing when another process has it.
  static std::optional<FileLock> attempt(const std::filesystem::path& file);
  static std::optional<FileLock> attempt(const Folders::Place& file);
  static FileLock none() { return FileLock(); }  // for who goes on without

  ~FileLock();
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) = delete;

  bool is_held() const { return held_.is_open(); }  // false: gone on without

 private:
  FileLock() = default;
  explicit FileLock(OpenFile held) : held_(std::move(held)) {}
  static FileLock make_marker(OpenFile made, const Folders::Place& file);

  OpenFile held_;
  Folders::Place marker_;  // of a lock that is its file's being there; else without folder
};

enum class Claim { ours, taken, no_locks };

// Without waiting, on a descriptor that is open already; the lock ends with it.
Claim claim(int fd);

}  // namespace hf::cache
