// A file on its way into the cache: hashed while it is written, and put under its name only when the hash is
// right.
//
//   blobs/<etag>.<id>.hfpart          the first bytes; locked (flock) by the process that writes it
//   blobs/<etag>.<id>.hfpart.journal  see journal.h
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "cache/hub/answers.h"

namespace hf::cache {

// What earlier processes left in a blobs folder, by etag.
struct Leftover {
  std::filesystem::path path;
  std::uint64_t bytes = 0;  // that its journal vouches for
};
using Leftovers = std::multimap<std::string, Leftover, std::less<>>;
Leftovers find_leftovers(const std::filesystem::path& blobs);

// Deletes those of processes that are gone when nothing can go on from them: no bytes are vouched for, or the
// blob is there.
void remove_worthless_leftovers(const std::filesystem::path& blobs);

class Partial {
 public:
  // Goes on with the leftover that has most, if its process is gone and its bytes still hash as its journal
  // says; deletes the others of that file whose process is gone. Else begins a new file. A journal entry is
  // written each `block_bytes`.
  Partial(const std::filesystem::path& blobs, const TreeFile& file, std::uint64_t block_bytes,
          const Leftovers& leftovers);
  ~Partial();  // what is there stays, with a last entry in its journal, unless publish() or discard() was
               // called
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;

  const TreeFile& file() const { return file_; }
  std::uint64_t size() const { return size_; }
  bool is_complete() const { return size_ == file_.size; }
  std::string hash() const { return hasher_.hex(); }
  bool is_right() const { return is_complete() && hash() == file_.etag(); }

  void append(std::span<const std::byte> bytes);  // never beyond the file's size: Error{internal}
  void restart();                                 // forgets all bytes

  void sync();  // the bytes are on the disk
  void
  publish();  // takes its name; Error{internal} unless is_right(), since no wrong blob may ever stand there
  void discard();  // and deletes it

 private:
  bool adopt(const std::filesystem::path& path);
  void create();
  void mark();
  void close_files();

  std::filesystem::path blobs_, path_, journal_path_;
  TreeFile file_;
  std::uint64_t block_bytes_;
  Hasher hasher_;
  int fd_ = -1, journal_fd_ = -1;
  std::uint64_t size_ = 0, marked_ = 0;
};

}  // namespace hf::cache
