// Reads files to hash them, as fast as the hash allows, and leaves no trace: access times stay, and so does
// what the page cache held.
#pragma once
#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/progress.h"

namespace hf::cache {

// Which file it is and in what state: the same again only while nobody has touched it.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t changed_seconds = 0, changed_nanoseconds = 0;
  auto operator<=>(const FileIdentity&) const = default;

  static FileIdentity of(const struct ::stat& info);
};

// A descriptor for reading that does not change the file's access time: O_NOATIME where the file is ours,
// else the time is set back at the end as far as we may.
class QuietFile {
 public:
  explicit QuietFile(const std::filesystem::path& path);  // follows links; Error as of open()
  QuietFile(int descriptor, std::filesystem::path path);  // takes the descriptor
  ~QuietFile();
  QuietFile(const QuietFile&) = delete;
  QuietFile& operator=(const QuietFile&) = delete;

  int descriptor() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }
  bool is_regular() const { return is_regular_; }
  std::uint64_t size() const { return identity_.bytes; }
  const FileIdentity& identity() const { return identity_; }  // when it was opened

 private:
  void inspect();

  std::filesystem::path path_;
  int fd_ = -1;
  bool is_regular_ = false;
  FileIdentity identity_;
  std::int64_t accessed_seconds_ = 0, accessed_nanoseconds_ = 0;
};

// The whole of a small file as text; Error{integrity} for more than `limit` bytes.
std::string read_quietly(const std::filesystem::path& path, std::uint64_t limit);

struct WantedHashes {
  bool sha256 = false, git_sha1 = false;
};

struct ContentHashes {
  std::string sha256, git_sha1;  // empty where not wanted
  std::uint64_t bytes = 0;       // that were there; others than the size when the file changes meanwhile
};

// One a thread, used for file after file: large ones are read by a second thread, some blocks ahead of the
// hash.
class ContentReader {
 public:
  explicit ContentReader(Progress& progress);  // advanced by the bytes read
  ~ContentReader();
  ContentReader(const ContentReader&) = delete;
  ContentReader& operator=(const ContentReader&) = delete;

  // Of the whole file, whatever its offset is. Error{io} when it cannot be read, Error{interrupted}.
  ContentHashes hash(const QuietFile& file, WantedHashes wanted);

 private:
  class Ahead;

  Progress& progress_;
  std::unique_ptr<Ahead> ahead_;
};

}  // namespace hf::cache
