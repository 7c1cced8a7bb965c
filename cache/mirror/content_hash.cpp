#include "cache/mirror/content_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/escape.h"
#include "cache/store/open_file.h"

namespace hf::cache {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;  // stays in the processor's cache between copy and hash
constexpr std::size_t kCopyBytes = 1 << 20;
constexpr std::uint64_t kTurnBytes = 8u << 20;      // then other files have their turn
constexpr std::uint64_t kRestBytes = 64u << 20;     // hashed at the end, so that the next run has them
constexpr std::uint64_t kWriteOutBytes = 8u << 20;  // the disk begins with these while the rest arrives

}  // namespace

ContentHash::ContentHash(HashPool& pool, PartFile& part, const TreeFile& file, std::uint64_t block_bytes,
                         ContentNews news)
    : pool_(pool),
      part_(part),
      file_(file),
      block_bytes_(block_bytes),
      news_(std::move(news)),
      hasher_(file.hash_kind(), file.size),
      sha256_(HashKind::sha256, file.size) {}

void ContentHash::check(Journal journal) {
  const std::lock_guard lock(mutex_);
  to_check_ = std::move(journal);
  schedule();
}

void ContentHash::copy_from(std::filesystem::path source) {
  const std::lock_guard lock(mutex_);
  to_copy_ = std::move(source);
  schedule();
}

void ContentHash::extend(std::uint64_t prefix) {
  const std::lock_guard lock(mutex_);
  available_ = std::max(available_, prefix);
  schedule();
}

void ContentHash::add_block(ByteSpan block) {
  const std::lock_guard lock(mutex_);
  blocks_.push_back(block);
  schedule();
}

// A thread wakes for each block, not for each packet.
bool ContentHash::has_work() const {
  const std::uint64_t waiting = available_ - std::min<std::uint64_t>(hashed_, available_);
  return to_check_ || to_copy_ || !blocks_.empty() || waiting >= block_bytes_ ||
         (waiting > 0 && available_ == file_.size);
}

void ContentHash::schedule() {
  if (running_ || stopped_ || !has_work()) return;
  running_ = true;
  pool_.submit([this] { run(); });
}

void ContentHash::run() {
  std::optional<Error> failure;
  try {
    turn();
  } catch (const Error& error) {
    failure = error;
  }
  if (failure) news_.failed(*failure);
  const std::lock_guard lock(mutex_);
  running_ = false;
  stopped_ = stopped_ || failure;
  schedule();
  if (!running_) rests_.notify_all();
}

void ContentHash::turn() {
  std::optional<Journal> journal;
  std::optional<std::filesystem::path> source;
  std::optional<ByteSpan> block;
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    while (!blocks_.empty() && blocks_.front().end <= hashed_) blocks_.pop_front();
    if (to_check_) {
      journal = std::exchange(to_check_, std::nullopt);
    } else if (to_copy_) {
      source = std::exchange(to_copy_, std::nullopt);
    } else if (available_ > hashed_) {
      end = std::min<std::uint64_t>(available_, hashed_ + kTurnBytes);
    } else if (!blocks_.empty()) {
      block = blocks_.front();
      blocks_.pop_front();
    }
  }
  if (journal) check_now(*journal);
  if (source) copy_now(*source);
  if (end > 0) hash_up_to(end);
  if (block) hash_block(*block);
  if (hashed_ != file_.size || told_) return;
  told_ = true;
  std::string etag = hasher_.hex();
  std::string sha256 = file_.hash_kind() == HashKind::sha256 ? etag : sha256_.hex();
  news_.whole({std::move(etag), std::move(sha256)});
}

void ContentHash::check_now(const Journal& journal) {
  Ranges right;
  const std::uint64_t prefix = last_right(journal.prefixes);
  right.add({0, prefix});
  for (const BlockMark& block : journal.blocks) {
    if (block.span.end <= prefix || right.contains(block.span)) continue;
    Hasher hasher(HashKind::sha256, block.span.size());
    try {
      if (!read(block.span, [&](auto bytes) { hasher.update(bytes); })) return;
    } catch (const Error&) {
      continue;
    }
    if (hasher.hex() == block.sha256) right.add(block.span);
  }
  news_.checked(std::move(right));
}

// What cannot be read of the source is fetched like the rest.
void ContentHash::copy_now(const std::filesystem::path& source) {
  std::vector<std::byte> buffer(kCopyBytes);
  std::uint64_t copied = 0;
  const OpenFile from(open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  const bool is_file = from.is_open() && fstat(from.get(), &info) == 0 && S_ISREG(info.st_mode);
  while (is_file && copied < file_.size) {
    if (hurry_) return;
    const std::size_t want = std::min<std::uint64_t>(buffer.size(), file_.size - copied);
    const ssize_t got = pread(from.get(), buffer.data(), want, static_cast<off_t>(copied));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    part_.write(copied, std::span(buffer).first(static_cast<std::size_t>(got)));
    copied += static_cast<std::uint64_t>(got);
  }
  Ranges there;
  there.add({0, copied});
  news_.checked(std::move(there));
}

// The last mark that the bytes agree with stands for all before it, whatever others say. Leaves the hashes
// there.
std::uint64_t ContentHash::last_right(const std::vector<PrefixMark>& marks) {
  std::uint64_t right = 0;
  noted_ = file_.size;  // meanwhile no new marks: the bytes may be wrong
  try {
    for (const PrefixMark& mark : marks) {
      hash_up_to(mark.bytes);
      if (hashed_ != mark.bytes) break;
      if (hasher_.hex() == mark.hash) right = mark.bytes;
    }
  } catch (const Error&) {  // the file ends before what its journal speaks of
  }
  if (hashed_ != right) {
    restart();
    hash_up_to(right);
  }
  noted_ = right;
  return right;
}

void ContentHash::restart() {
  hasher_ = Hasher(file_.hash_kind(), file_.size);
  sha256_ = Hasher(HashKind::sha256, file_.size);
  hashed_ = 0;
}

void ContentHash::hash_up_to(std::uint64_t end) {
  while (hashed_ < end) {
    const std::uint64_t next = std::min<std::uint64_t>(end, (hashed_ / block_bytes_ + 1) * block_bytes_);
    const bool complete = read({hashed_, next}, [&](std::span<const std::byte> bytes) {
      hasher_.update(bytes);
      if (file_.hash_kind() != HashKind::sha256) sha256_.update(bytes);
      hashed_ += bytes.size();
    });
    if (!complete) return;
    if (hashed_ % block_bytes_ == 0) note_prefix();
    if (hashed_ - written_out_ < kWriteOutBytes) continue;
    sync_file_range(part_.descriptor(), static_cast<off_t>(written_out_),
                    static_cast<off_t>(hashed_ - written_out_), SYNC_FILE_RANGE_WRITE);
    written_out_ = hashed_;
  }
}

void ContentHash::hash_block(ByteSpan block) {
  Hasher hasher(HashKind::sha256, block.size());
  if (read(block, [&](auto bytes) { hasher.update(bytes); })) part_.note(BlockMark{block, hasher.hex()});
}

void ContentHash::note_prefix() {
  if (hashed_ <= noted_) return;
  noted_ = hashed_;
  part_.note(PrefixMark{noted_, hasher_.hex()});
}

bool ContentHash::read(ByteSpan span, const std::function<void(std::span<const std::byte>)>& take) {
  static thread_local std::vector<std::byte> buffer(kReadBytes);
  while (span.first < span.end) {
    if (hurry_) return false;
    const std::size_t want = std::min<std::uint64_t>(buffer.size(), span.size());
    const ssize_t got = pread(part_.descriptor(), buffer.data(), want, static_cast<off_t>(span.first));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(shown(part_.path()), errno);
    if (got == 0)
      throw Error(ErrorKind::io, shown(part_.path()) + ": ends at byte " + std::to_string(span.first) +
                                     ", more was written to it");
    take(std::span(buffer).first(static_cast<std::size_t>(got)));
    span.first += static_cast<std::uint64_t>(got);
  }
  return true;
}

void ContentHash::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  hurry_ = true;
  rests_.wait(lock, [&] { return !running_; });
}

void ContentHash::note_rest() {
  hurry_ = false;
  try {
    if (to_check_ || to_copy_ || told_) return;
    hash_up_to(std::min<std::uint64_t>(available_, hashed_ + kRestBytes));
    note_prefix();
    for (std::uint64_t done = 0; !blocks_.empty() && done < kRestBytes; blocks_.pop_front()) {
      if (blocks_.front().end <= hashed_) continue;
      hash_block(blocks_.front());
      done += blocks_.front().size();
    }
  } catch (const Error&) {  // what the journal says by now is true all the same
  }
}

}  // namespace hf::cache
