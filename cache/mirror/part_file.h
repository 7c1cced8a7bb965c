// A file on its way into the cache.
//
//   <folder>/<etag>.<8 hex>.part           its bytes; locked (flock) by the process that writes it
//   <folder>/<etag>.<8 hex>.part.journal   see journal.h
//
// Nothing but the process that made it, or took it over, writes to it. A name that ends otherwise than
// huggingface_hub's own partial files keeps older versions of it from publishing ours as they are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/hub/answers.h"
#include "cache/mirror/journal.h"

namespace hf::cache {

constexpr std::string_view kPartSuffix = ".part";
constexpr std::string_view kPartJournalSuffix = ".part.journal";

class PartFile {
 public:
  // A new one, empty, with a journal. Error{io}.
  static PartFile create(const std::filesystem::path& folder, const TreeFile& file);
  // One that an earlier process left, renamed to be ours, with what its journal says; nothing when that
  // process may live, another one was faster, or it is of another file.
  static std::optional<PartFile> take_over(const std::filesystem::path& path, const TreeFile& file,
                                           Journal& journal);
  // A whole small file in one piece; its path. It has no journal: who would go on with it fetches it again.
  static std::filesystem::path write_whole(int folder, const std::filesystem::path& folder_path,
                                           const TreeFile& file, std::span<const std::byte> bytes);

  ~PartFile();  // what is there stays for the next run, if its journal says anything of it
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return fd_; }
  // False once another process has taken it for left behind: nothing may be written to it any more.
  bool is_ours() const;

  void write(std::uint64_t offset, std::span<const std::byte> bytes);  // Error{io}
  void sync() const;                                                   // the bytes are on the disk

  // Lines of the journal, from any thread. One that cannot be written is one resumption less, no error.
  void note(const PrefixMark& mark);
  void note(const BlockMark& mark);

  void publish();  // its name belongs to the cache now: the journal goes
  void discard();  // deletes it

 private:
  PartFile() = default;
  void open_journal(const std::string& head);
  void append_line(const std::string& line);
  void close_files();

  std::filesystem::path path_;
  int fd_ = -1, journal_fd_ = -1;
  bool noted_ = false;
};

}  // namespace hf::cache
