// Files: mapped for reading, and written so that nobody ever sees half a file under its final name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hf {

// A whole file mapped read-only. An empty file maps to an empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  // Maps what `descriptor` is open on, which stays the caller's; `path` is for messages.
  MappedFile(int descriptor, const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }
  // Gives the pages of [offset, offset + length) back to the kernel: what streams through is not kept
  // resident.
  void drop(std::size_t offset, std::size_t length) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Writes beside `path` under a temporary name; commit() makes it durable and gives it its name (fsync,
// rename, fsync of the folder). Without commit() nothing is left behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path, unsigned mode = 0666);  // less the umask
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void pad_to(std::uint64_t offset);  // zeros up to `offset` bytes from the start
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

void write_file(const std::filesystem::path& path, std::string_view text);  // through AtomicFile

// Where `path` is a link, the file that it leads to: written there, the link stays, as with cp. Error{usage}
// where it leads nowhere.
std::filesystem::path behind_link(const std::filesystem::path& path);

// The whole file as text; more than `limit` bytes is an integrity error, before anything is read.
std::string read_text(const std::filesystem::path& path, std::uint64_t limit = 64u << 20);

// Makes the entries of a folder durable.
void sync_folder(const std::filesystem::path& folder);

}  // namespace hf
