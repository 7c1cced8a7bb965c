// The hash of a large file while it arrives. It follows the bytes in the file itself, so that what was hashed
// is what will be published, and tells the journal how far it is.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "cache/mirror/hash_pool.h"
#include "cache/mirror/part_file.h"
#include "cache/mirror/ranges.h"

namespace hf::cache {

struct ContentDigests {
  std::string etag;    // of the kind that the file's etag is
  std::string sha256;  // always
};

// Told from a thread of the pool.
struct ContentNews {
  std::function<void(ContentDigests)> whole;  // all bytes of the file are hashed
  std::function<void(Ranges)> checked;        // what check() found right
  std::function<void(Error)> failed;          // the file cannot be read; nothing more follows
};

class ContentHash {
 public:
  // A line in the journal each `block_bytes`. Pool and part must outlive this.
  ContentHash(HashPool& pool, PartFile& part, const TreeFile& file, std::uint64_t block_bytes,
              ContentNews news);
  ~ContentHash() { stop(); }
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  // Hashes again what the journal of an earlier process speaks of. Once, before all else.
  void check(Journal journal);
  // Copies what another program left of the file, unverified: its bytes are checked() by their number alone,
  // and right when the whole file is. Once, before all else.
  void copy_from(std::filesystem::path source);
  void extend(std::uint64_t prefix);  // the first so many bytes are there
  void add_block(ByteSpan block);     // a block is there ahead of them: noted when there is time
  void stop();                        // at once; no news after it
  void note_rest();                   // after stop(): the journal speaks of what is there

 private:
  bool has_work() const;
  void schedule();
  void run();
  void turn();
  void check_now(const Journal& journal);
  void copy_now(const std::filesystem::path& source);
  std::uint64_t last_right(const std::vector<PrefixMark>& marks);
  void hash_up_to(std::uint64_t end);
  void hash_block(ByteSpan block);
  void note_prefix();
  void restart();
  // False where it was told to stop; Error{io} where the file is shorter.
  bool read(ByteSpan span, const std::function<void(std::span<const std::byte>)>& take);

  HashPool& pool_;
  PartFile& part_;
  const TreeFile file_;
  const std::uint64_t block_bytes_;
  const ContentNews news_;

  // Of the thread that has the turn.
  Hasher hasher_, sha256_;
  std::uint64_t noted_ = 0, written_out_ = 0;
  bool told_ = false;

  std::atomic<std::uint64_t> hashed_{0};
  std::atomic<bool> hurry_{false};
  std::mutex mutex_;
  std::condition_variable rests_;
  std::optional<Journal> to_check_;
  std::optional<std::filesystem::path> to_copy_;
  std::deque<ByteSpan> blocks_;
  std::uint64_t available_ = 0;
  bool running_ = false, stopped_ = false;
};

}  // namespace hf::cache
