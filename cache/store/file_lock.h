// flock(2) on a lock file, as huggingface_hub takes it. It saves work that two processes would do twice;
// nothing is wrong where a file system has no working locks.
#pragma once
#include <filesystem>
#include <optional>

namespace hf::cache {

class FileLock {
 public:
  // Waits until the lock is ours; ends with Error{interrupted} when the user stops the program. The file is
  // made where it is missing and never deleted: whoever waits for it holds it open.
  explicit FileLock(const std::filesystem::path& file);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  int fd_ = -1;
};

enum class Claim { ours, taken, no_locks };

// Without waiting, on a descriptor that is open already; the lock ends with it.
Claim claim(int fd);

}  // namespace hf::cache
