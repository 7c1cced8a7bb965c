#include "cache/mirror/partial.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "cache/hub/repo.h"
#include "cache/mirror/journal.h"
#include "cache/store/file_lock.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".hfpart";
constexpr std::string_view kJournalSuffix = ".hfpart.journal";
constexpr std::uint64_t kLongestJournal = 64u << 20;
constexpr std::time_t kLongSilence = 600;  // seconds after which another machine's partial counts as left

std::string shown(const fs::path& path) { return escaped(path.string(), 4096); }

fs::path journal_of(const fs::path& partial) { return partial.string() + ".journal"; }

// A descriptor that is closed unless it is taken out.
struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int take() { return std::exchange(fd, -1); }
};

std::string short_hash(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text))).substr(0, 8);
}

// Who writes: 8 digits for the host and 8 for its running kernel, the front of a partial file's id.
std::string this_owner() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  std::string boot;
  try {
    boot = read_text("/proc/sys/kernel/random/boot_id");
  } catch (const Error&) {
    boot = "unknown";
  }
  return short_hash(host.data()) + short_hash(boot);
}

// Locks are trusted between processes of one kernel and across a restart of one host: some network file
// systems grant the same lock on two machines.
bool shares_locks(const fs::path& partial) {
  const std::string name = partial.filename().string();
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos || name.size() < dot + 17) return false;
  const std::string owner = name.substr(dot + 1, 16), ours = this_owner();
  return owner.substr(0, 8) == ours.substr(0, 8) || owner.substr(8) == ours.substr(8);
}

void write_all(int fd, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_error(shown(path), written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::optional<Journal> read_journal(const fs::path& partial) {
  try {
    return parse_journal(read_text(journal_of(partial), kLongestJournal));
  } catch (const Error&) {
    return std::nullopt;  // a leftover without a readable journal is worth nothing
  }
}

// Whether the process that wrote `path`, open as `fd`, is certainly gone. If so, it is locked by us now.
bool is_left(int fd, const fs::path& path) {
  if (fd < 0 || claim(fd) != Claim::ours) return false;
  const Descriptor again(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  // A file system that grants the same lock twice proves nothing.
  if (again.fd < 0 || claim(again.fd) != Claim::taken) return false;
  struct stat ours {
  }, named{};
  if (fstat(fd, &ours) != 0 || fstat(again.fd, &named) != 0 || ours.st_ino != named.st_ino) return false;
  const bool silent = std::time(nullptr) - ours.st_mtime > kLongSilence;
  return S_ISREG(ours.st_mode) && (silent || shares_locks(path));
}

// Hashes the first `bytes` of the file; false when it has fewer.
bool hash_prefix(int fd, std::uint64_t bytes, Hasher& hasher, const fs::path& path) {
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t at = 0; at < bytes;) {
    check_interrupted();
    const std::size_t want = std::min<std::uint64_t>(buffer.size(), bytes - at);
    const ssize_t got = pread(fd, buffer.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(shown(path), errno);
    if (got == 0) return false;
    hasher.update(std::span(buffer).first(static_cast<std::size_t>(got)));
    at += static_cast<std::uint64_t>(got);
  }
  return true;
}

void remove_partial(const fs::path& path) {
  unlink(path.c_str());
  unlink(journal_of(path).c_str());
}

void remove_if_left(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (is_left(file.fd, path)) remove_partial(path);
}

}  // namespace

Leftovers find_leftovers(const fs::path& blobs) {
  Leftovers found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(blobs, error)) {
    const std::string name = entry.path().filename().string();
    const std::string etag = name.substr(0, name.find('.'));
    if (!is_etag(etag)) continue;
    if (name.ends_with(kJournalSuffix)) {  // of a process that ended between its last two steps
      const std::string partial = entry.path().string().substr(0, entry.path().string().size() - 8);
      if (!fs::exists(partial, error) && fs::exists(blobs / etag, error)) unlink(entry.path().c_str());
    } else if (name.ends_with(kSuffix)) {
      const auto journal = read_journal(entry.path());
      found.emplace(etag, Leftover{entry.path(), journal ? journal->last.bytes : 0});
    }
  }
  return found;
}

void remove_worthless_leftovers(const fs::path& blobs) {
  std::error_code error;
  for (const auto& [etag, leftover] : find_leftovers(blobs))
    if (leftover.bytes == 0 || fs::exists(blobs / etag, error)) remove_if_left(leftover.path);
}

Partial::Partial(const fs::path& blobs, const TreeFile& file, std::uint64_t block_bytes,
                 const Leftovers& leftovers)
    : blobs_(blobs), file_(file), block_bytes_(block_bytes), hasher_(file.hash_kind(), file.size) {
  std::vector<Leftover> candidates;
  const auto [begin, end] = leftovers.equal_range(file.etag());
  for (auto at = begin; at != end; ++at) candidates.push_back(at->second);
  std::sort(candidates.begin(), candidates.end(),
            [](const Leftover& a, const Leftover& b) { return a.bytes > b.bytes; });
  for (const Leftover& candidate : candidates)
    if (fd_ >= 0 || !adopt(candidate.path)) remove_if_left(candidate.path);
  if (fd_ < 0) create();
}

Partial::~Partial() {
  if (fd_ < 0) return;
  try {
    if (size_ > marked_) mark();
  } catch (const Error&) {  // the disk is full or gone: the entries before still count
  }
  const bool worthless = marked_ == 0;
  close_files();
  if (worthless) remove_partial(path_);
}

bool Partial::adopt(const fs::path& path) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  const auto journal = read_journal(path);
  if (!journal || journal->etag != file_.etag() || journal->size != file_.size) return false;
  if (!is_left(file.fd, path)) return false;
  const std::uint64_t bytes = journal->last.bytes;
  Hasher hasher(file_.hash_kind(), file_.size);
  if (!hash_prefix(file.fd, bytes, hasher, path) || hasher.hex() != journal->last.hash) return false;
  Descriptor entries(open(journal_of(path).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  const auto end = static_cast<off_t>(bytes);
  if (entries.fd < 0 || ftruncate(file.fd, end) != 0 || lseek(file.fd, end, SEEK_SET) != end) return false;
  fd_ = file.take();
  journal_fd_ = entries.take();
  path_ = path;
  hasher_ = std::move(hasher);
  size_ = marked_ = bytes;
  return true;
}

void Partial::create() {
  constexpr char kHex[] = "0123456789abcdef";
  std::random_device random;
  while (fd_ < 0) {
    std::string id = this_owner();
    for (int i = 0; i < 8; ++i) id += kHex[random() & 15];
    path_ = blobs_ / (file_.etag() + "." + id + std::string(kSuffix));
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) throw system_error(shown(path_), errno);
  }
  claim(fd_);
}

void Partial::append(std::span<const std::byte> bytes) {
  if (bytes.size() > file_.size - size_)
    throw Error(ErrorKind::internal, shown(path_) + ": would grow too long");
  write_all(fd_, bytes, path_);
  hasher_.update(bytes);
  size_ += bytes.size();
  if (size_ - marked_ >= block_bytes_ && !is_complete()) mark();
}

void Partial::sync() {
  if (fdatasync(fd_) != 0) throw system_error(shown(path_), errno);
}

// First the bytes, then the word that they are there: after a power failure the journal never promises too
// much.
void Partial::mark() {
  sync();
  std::string text = journal_line({size_, hash()});
  if (journal_fd_ < 0) {
    const fs::path path = journal_of(path_);
    journal_fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (journal_fd_ < 0) throw system_error(shown(path), errno);
    text = journal_head({file_.etag(), file_.size, {}}) + text;
  }
  write_all(journal_fd_, std::as_bytes(std::span(text)), path_);
  if (fdatasync(journal_fd_) != 0) throw system_error(shown(path_), errno);
  if (marked_ == 0) sync_folder(blobs_);
  marked_ = size_;
}

void Partial::restart() {
  unlink(journal_of(path_).c_str());
  if (journal_fd_ >= 0) close(std::exchange(journal_fd_, -1));
  if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) < 0) throw system_error(shown(path_), errno);
  hasher_ = Hasher(file_.hash_kind(), file_.size);
  size_ = marked_ = 0;
}

void Partial::publish() {
  if (!is_right()) throw Error(ErrorKind::internal, shown(path_) + ": is not the file it should become");
  const fs::path blob = blobs_ / file_.etag();
  if (rename(path_.c_str(), blob.c_str()) != 0) throw system_error(shown(blob), errno);
  unlink(journal_of(path_).c_str());
  close_files();
}

void Partial::discard() {
  remove_partial(path_);
  close_files();
}

void Partial::close_files() {
  if (journal_fd_ >= 0) close(std::exchange(journal_fd_, -1));
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace hf::cache
