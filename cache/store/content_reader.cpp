#include "cache/store/content_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/escape.h"
#include "base/hash.h"

namespace hf::cache {
namespace {

constexpr std::size_t kBlockBytes = 512 << 10;
constexpr std::size_t kBlocks = 4;
constexpr std::uint64_t kWindowBytes = 64 << 20;  // judged at once: was it in the page cache?
constexpr std::uint64_t kReadAheadFrom = 2 << 20;

// How much of the range the page cache holds before anybody reads. Kernels tell only those who may write the
// file; to all others it looks held, and then stays as it is.
bool is_cached(int fd, std::uint64_t offset, std::uint64_t bytes) {
  void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (map == MAP_FAILED) return true;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const bool known = mincore(map, bytes, pages.data()) == 0;
  munmap(map, bytes);
  const auto held = std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; });
  return !known || static_cast<std::size_t>(held) * 2 > pages.size();
}

// The bytes of a file from its beginning, block by block.
class Blocks {
 public:
  explicit Blocks(const QuietFile& file) : file_(file) {
    posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  // Fills as much of `block` as there is; less only at the end, which is one byte behind the size that the
  // file had: enough to see that it grows, and an end for one that never stops.
  std::size_t read(std::span<std::byte> block) {
    block = block.first(std::min<std::uint64_t>(block.size(), file_.size() + 1 - at_));
    if (at_ >= window_end_) enter_window();
    std::size_t filled = 0;
    while (filled < block.size()) {
      const ssize_t got = pread(file_.descriptor(), block.data() + filled, block.size() - filled,
                                static_cast<off_t>(at_ + filled));
      if (got < 0 && errno == EINTR) {
        check_interrupted();
        continue;
      }
      if (got < 0) throw system_error(shown(file_.path()), errno);
      filled += static_cast<std::size_t>(got);
      if (got == 0 || (filled < block.size() && at_ + filled == file_.size())) break;
    }
    if (!was_cached_)
      posix_fadvise(file_.descriptor(), static_cast<off_t>(at_), static_cast<off_t>(filled),
                    POSIX_FADV_DONTNEED);
    at_ += filled;
    return filled;
  }

 private:
  void enter_window() {
    const std::uint64_t bytes = std::min(kWindowBytes, file_.size() - std::min(at_, file_.size()));
    was_cached_ = bytes == 0 || is_cached(file_.descriptor(), at_, bytes);
    window_end_ = at_ + std::max<std::uint64_t>(bytes, 1);
  }

  const QuietFile& file_;
  std::uint64_t at_ = 0, window_end_ = 0;
  bool was_cached_ = true;
};

}  // namespace

FileIdentity FileIdentity::of(const struct ::stat& info) {
  return {info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size), info.st_ctim.tv_sec,
          info.st_ctim.tv_nsec};
}

QuietFile::QuietFile(const std::filesystem::path& path) : path_(path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  fd_ = open(path.c_str(), kFlags | O_NOATIME);
  if (fd_ < 0 && errno == EPERM) fd_ = open(path.c_str(), kFlags);  // another user's file
  if (fd_ < 0) throw system_error(shown(path), errno);
  inspect();
}

QuietFile::QuietFile(int descriptor, std::filesystem::path path) : path_(std::move(path)), fd_(descriptor) {
  if (const int flags = fcntl(fd_, F_GETFL); flags >= 0) fcntl(fd_, F_SETFL, flags | O_NOATIME);
  inspect();
}

void QuietFile::inspect() {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return;
  is_regular_ = S_ISREG(info.st_mode);
  identity_ = FileIdentity::of(info);
  accessed_seconds_ = info.st_atim.tv_sec;
  accessed_nanoseconds_ = info.st_atim.tv_nsec;
}

QuietFile::~QuietFile() {
  struct stat info {};  // some file systems do not know O_NOATIME
  if (fstat(fd_, &info) == 0 &&
      (info.st_atim.tv_sec != accessed_seconds_ || info.st_atim.tv_nsec != accessed_nanoseconds_)) {
    const timespec times[] = {{accessed_seconds_, accessed_nanoseconds_}, {0, UTIME_OMIT}};
    futimens(fd_, times);
  }
  close(fd_);
}

std::string read_quietly(const std::filesystem::path& path, std::uint64_t limit) {
  const QuietFile file(path);
  if (!file.is_regular()) throw Error(ErrorKind::integrity, shown(path) + ": is no regular file");
  if (file.size() > limit)
    throw Error(ErrorKind::integrity, shown(path) + ": has " + std::to_string(file.size()) +
                                          " bytes, at most " + std::to_string(limit) + " are read");
  std::string text(file.size() + 1, '\0');
  text.resize(Blocks(file).read(std::as_writable_bytes(std::span(text))));
  return text;
}

// A thread that fills a ring of blocks, and the calling thread that empties it.
class ContentReader::Ahead {
 public:
  Ahead() : thread_([this] { serve(); }) {}
  ~Ahead() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Calls take(block) for each block of the file.
  template <class Take>
  void read(const QuietFile& file, const Take& take) {
    std::unique_lock lock(mutex_);
    filled_ = taken_ = 0;
    ended_ = abandoned_ = false;
    failure_ = nullptr;
    file_ = &file;
    changed_.notify_all();
    const auto finish = [&] {
      abandoned_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return file_ == nullptr; });
    };
    try {
      while (true) {
        changed_.wait(lock, [&] { return filled_ > taken_ || ended_; });
        if (filled_ == taken_) break;
        Block& block = ring_[taken_ % kBlocks];
        lock.unlock();
        take(std::span<const std::byte>(block.bytes).first(block.filled));
        lock.lock();
        ++taken_;
        changed_.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      finish();
      throw;
    }
    finish();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  struct Block {
    std::vector<std::byte> bytes = std::vector<std::byte>(kBlockBytes);
    std::size_t filled = 0;
  };

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || file_ != nullptr; });
      if (stop_) return;
      fill(lock);
      ended_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return stop_ || abandoned_; });
      file_ = nullptr;
      changed_.notify_all();
    }
  }

  void fill(std::unique_lock<std::mutex>& lock) {
    Blocks blocks(*file_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || abandoned_ || filled_ < taken_ + kBlocks; });
      if (stop_ || abandoned_) return;
      Block& block = ring_[filled_ % kBlocks];
      lock.unlock();
      std::exception_ptr failure;
      try {
        block.filled = blocks.read(block.bytes);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
      if (failure || block.filled == 0) return;
      ++filled_;
      changed_.notify_all();
      if (block.filled < block.bytes.size()) return;
    }
  }

  std::array<Block, kBlocks> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const QuietFile* file_ = nullptr;  // that is being read
  std::size_t filled_ = 0, taken_ = 0;
  bool ended_ = false, abandoned_ = false, stop_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all of the above
};

ContentReader::ContentReader(Progress& progress) : progress_(progress) {}
ContentReader::~ContentReader() = default;

ContentHashes ContentReader::hash(const QuietFile& file, WantedHashes wanted) {
  std::optional<Hasher> sha256, git_sha1;
  std::vector<Hasher*> hashers;
  if (wanted.sha256) hashers.push_back(&sha256.emplace(HashKind::sha256, file.size()));
  if (wanted.git_sha1) hashers.push_back(&git_sha1.emplace(HashKind::git_sha1, file.size()));
  ContentHashes out;
  const auto take = [&](std::span<const std::byte> block) {
    check_interrupted();
    update_all(hashers, block);
    out.bytes += block.size();
    progress_.advance(block.size());
  };
  if (file.size() >= kReadAheadFrom && ahead_ == nullptr) try {
      ahead_ = std::make_unique<Ahead>();
    } catch (const std::system_error&) {  // the limit on threads: then one does both
    }
  if (file.size() >= kReadAheadFrom && ahead_ != nullptr) {
    ahead_->read(file, take);
  } else {
    std::vector<std::byte> block(
        std::clamp<std::uint64_t>(file.size() + 1, 4096, kBlockBytes));  // + 1: sees the end at once
    Blocks blocks(file);
    while (const std::size_t got = blocks.read(block)) {
      take(std::span<const std::byte>(block).first(got));
      if (got < block.size()) break;
    }
  }
  if (sha256) out.sha256 = sha256->hex();
  if (git_sha1) out.git_sha1 = git_sha1->hex();
  return out;
}

}  // namespace hf::cache
