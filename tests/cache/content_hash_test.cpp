#include "cache/mirror/content_hash.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "cache/loopback.h"
#include "cache/mirror/leftovers.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

constexpr std::uint64_t kBlock = 1000;

struct Content {
  TempDir dir;
  std::string bytes = noise(5500, 1);
  TreeFile file{"m.bin", bytes.size(), "", "", ""};
  HashPool pool{2};
  std::unique_ptr<PartFile> part;
  std::unique_ptr<ContentHash> hash;

  std::mutex mutex;
  std::condition_variable told;
  std::optional<ContentDigests> whole;
  std::optional<Ranges> checked;
  std::optional<Error> failed;

  explicit Content(bool lfs = true) {
    (lfs ? file.sha256 : file.git_oid) = digest(lfs ? HashKind::sha256 : HashKind::git_sha1, bytes.size());
  }
  ~Content() {
    hash.reset();
    part.reset();
  }

  std::string digest(HashKind kind, std::size_t count) const {
    Hasher hasher(kind, bytes.size());
    hasher.update(std::as_bytes(std::span(bytes)).first(count));
    return hasher.hex();
  }
  void write(std::uint64_t first, std::uint64_t end) {
    part->write(first, std::as_bytes(std::span(bytes)).subspan(first, end - first));
  }
  void open() {
    part = std::make_unique<PartFile>(PartFile::create(dir.path(), file));
    watch();
  }
  void watch() {
    const auto tell = [this](auto& place) {
      return [this, &place](auto value) {
        const std::lock_guard lock(mutex);
        place = std::move(value);
        told.notify_all();
      };
    };
    hash = std::make_unique<ContentHash>(pool, *part, file, kBlock,
                                         ContentNews{tell(whole), tell(checked), tell(failed)});
  }
  // What is vouched for when it is all over.
  Journal end() {
    hash->stop();
    hash->note_rest();
    hash.reset();
    const fs::path path = part->path();
    part.reset();
    return read_journal(path).value();
  }
  template <class T>
  const T& wait_for(std::optional<T>& place) {
    std::unique_lock lock(mutex);
    REQUIRE(told.wait_for(lock, std::chrono::seconds(20), [&] { return place.has_value(); }));
    return *place;
  }
  // A second life of what the first one left.
  Ranges check_again(const fs::path& path) {
    Journal journal;
    auto taken = PartFile::take_over(path, file, journal);
    REQUIRE(taken);
    part = std::make_unique<PartFile>(std::move(*taken));
    checked.reset();
    watch();
    hash->check(std::move(journal));
    return wait_for(checked);
  }
  fs::path leave(std::uint64_t count) {
    open();
    write(0, count);
    hash->extend(count);
    const fs::path path = part->path();
    end();
    return path;
  }
};

}  // namespace

TEST_CASE("A file that arrives in order is hashed and each block noted") {
  for (const bool lfs : {true, false}) {
    Content content(lfs);
    content.open();
    for (std::uint64_t at = 0; at < 5500; at += 500) {
      content.write(at, at + 500);
      content.hash->extend(at + 500);
    }
    const ContentDigests& digests = content.wait_for(content.whole);
    CHECK(digests.etag == content.file.etag());
    CHECK(digests.sha256 == content.digest(HashKind::sha256, 5500));
    const auto journal = read_journal(content.part->path());
    REQUIRE(journal);
    REQUIRE(journal->prefixes.size() == 5);
    CHECK(journal->prefixes[4].bytes == 5000);
    CHECK(journal->prefixes[4].hash == content.digest(content.file.hash_kind(), 5000));
  }
}

TEST_CASE("Blocks ahead of the rest are noted by a hash of their own") {
  Content content;
  content.open();
  content.write(2000, 4000);
  content.hash->add_block({2000, 3000});
  content.hash->add_block({3000, 4000});
  const Journal journal = content.end();
  REQUIRE(journal.blocks.size() == 2);
  CHECK(journal.blocks[1].span == ByteSpan{3000, 4000});
  CHECK(journal.blocks[1].sha256 == sha256_hex(std::as_bytes(std::span(content.bytes)).subspan(3000, 1000)));
  CHECK(journal.vouched_bytes() == 2000);
}

TEST_CASE("What is there at the end is noted to the last byte") {
  Content content;
  const fs::path path = content.leave(2345);
  const auto journal = read_journal(path);
  REQUIRE(journal);
  CHECK(journal->vouched_bytes() == 2345);
}

TEST_CASE("A later run believes what it has hashed again") {
  Content content;
  const fs::path path = content.leave(2345);
  const Ranges right = content.check_again(path);
  CHECK(right.prefix() == 2345);
  CHECK(right.total() == 2345);
  content.write(2345, 5500);
  content.hash->extend(5500);
  CHECK(content.wait_for(content.whole).etag == content.file.etag());
}

TEST_CASE("Blocks of an earlier run count where they are right") {
  Content content;
  content.open();
  content.write(0, 1500);
  content.hash->extend(1500);
  content.write(2000, 5000);
  for (std::uint64_t at = 2000; at < 5000; at += 1000) content.hash->add_block({at, at + 1000});
  const fs::path path = content.part->path();
  content.end();
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3500);
    file.put(static_cast<char>(content.bytes[3500] ^ 1));
  }
  const Ranges right = content.check_again(path);
  CHECK(right.prefix() == 1500);
  CHECK(right.contains({2000, 3000}));
  CHECK_FALSE(right.contains({3000, 3001}));
  CHECK(right.contains({4000, 5000}));
  CHECK(right.total() == 3500);
}

TEST_CASE("A prefix counts up to the last mark that its bytes agree with") {
  struct Case {
    const char* what;
    std::uint64_t flipped, cut, expected;
  };
  for (const Case& one : {Case{"in the third block", 2500, 0, 2000}, Case{"in the first", 0, 0, 0},
                          Case{"after the last mark", 4321, 0, 4321}, Case{"cut", 9999, 3700, 3000}}) {
    CAPTURE(one.what);
    Content content;
    const fs::path path = content.leave(4321);
    if (one.flipped < 5500) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(one.flipped));
      file.put(static_cast<char>(content.bytes[one.flipped] ^ 1));
    }
    if (one.cut > 0) fs::resize_file(path, one.cut);
    const Ranges right = content.check_again(path);
    CHECK(right.prefix() == one.expected);
    content.write(right.prefix(), 5500);
    content.hash->extend(5500);
    CHECK(content.wait_for(content.whole).etag == content.file.etag());
  }
}

TEST_CASE("Checking writes no marks of bytes that are wrong") {
  Content content;
  const fs::path path = content.leave(4321);
  put(path, noise(4321, 2));
  CHECK(content.check_again(path).total() == 0);
  const fs::path taken = content.part->path();
  content.end();
  CHECK(content.check_again(taken).total() == 0);
}

TEST_CASE("A mark that is wrong takes nothing from those that are right") {
  Content content;
  const fs::path path = content.leave(4321);
  std::ofstream(path.string() + ".journal", std::ios::app) << prefix_line({3000, std::string(64, 'a')});
  CHECK(content.check_again(path).prefix() == 4321);
}

TEST_CASE("A file that became shorter while it is written is an error, not a wrong hash") {
  Content content;
  content.open();
  content.write(0, 5500);
  fs::resize_file(content.part->path(), 3000);
  content.hash->extend(5500);
  CHECK(content.wait_for(content.failed).kind() == ErrorKind::io);
  CHECK_FALSE(content.whole);
}

TEST_CASE("Many files share a few threads") {
  std::vector<std::unique_ptr<Content>> contents;
  HashPool pool(2);
  for (int i = 0; i < 12; ++i) contents.push_back(std::make_unique<Content>(i % 2 == 0));
  for (auto& content : contents) {
    content->open();
    content->write(0, 5500);
    content->hash->extend(5500);
  }
  for (auto& content : contents) CHECK(content->wait_for(content->whole).etag == content->file.etag());
}
