#include "cache/mirror/partial.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/loopback.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

constexpr std::uint64_t kBlock = 1000;

struct Blobs {
  TempDir dir;
  std::string content = noise(5500, 1);
  TreeFile file{"m.bin", content.size(), std::string(40, 'a'), "", ""};

  Blobs() { file.sha256 = sha256_hex(std::as_bytes(std::span(content))); }

  std::unique_ptr<Partial> open() const {
    return std::make_unique<Partial>(dir.path(), file, kBlock, find_leftovers(dir.path()));
  }
  std::span<const std::byte> bytes(std::size_t first, std::size_t count) const {
    return std::as_bytes(std::span(content)).subspan(first, count);
  }
  // A leftover of `count` bytes.
  void leave(std::size_t count) const { open()->append(bytes(0, count)); }
  fs::path only(const std::string& suffix) const {
    for (const auto& entry : fs::directory_iterator(dir.path()))
      if (entry.path().string().ends_with(suffix)) return entry.path();
    return "";
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()));
  }
};

}  // namespace

TEST_CASE("A right file gets its name and leaves nothing else") {
  Blobs blobs;
  const auto partial = blobs.open();
  partial->append(blobs.bytes(0, 3000));
  CHECK_FALSE(partial->is_right());
  CHECK(blobs.entries() == 2);
  partial->append(blobs.bytes(3000, 2500));
  CHECK(partial->is_right());
  partial->publish();
  CHECK(blobs.entries() == 1);
  CHECK(read_text(blobs.dir / blobs.file.etag()) == blobs.content);
}

TEST_CASE("A wrong file never gets its name") {
  Blobs blobs;
  const auto partial = blobs.open();
  partial->append(blobs.bytes(0, 5499));
  CHECK(error_of([&] { partial->publish(); }) == ErrorKind::internal);
  partial->append(blobs.bytes(0, 1));
  CHECK(partial->is_complete());
  CHECK_FALSE(partial->is_right());
  CHECK(error_of([&] { partial->publish(); }) == ErrorKind::internal);
  CHECK(error_of([&] { partial->append(blobs.bytes(0, 1)); }) == ErrorKind::internal);
  partial->restart();
  CHECK(partial->size() == 0);
  partial->append(blobs.bytes(0, 5500));
  partial->publish();
  CHECK(read_text(blobs.dir / blobs.file.etag()) == blobs.content);
}

TEST_CASE("A leftover is gone on with") {
  Blobs blobs;
  blobs.leave(2300);
  const auto leftovers = find_leftovers(blobs.dir.path());
  REQUIRE(leftovers.size() == 1);
  CHECK(leftovers.begin()->second.bytes == 2300);
  const auto partial = blobs.open();
  CHECK(partial->size() == 2300);
  partial->append(blobs.bytes(2300, 3200));
  CHECK(partial->is_right());
}

TEST_CASE("Bytes after the last entry are not trusted") {
  Blobs blobs;
  blobs.leave(2300);
  std::ofstream(blobs.only(".hfpart"), std::ios::app) << "something else";
  const auto partial = blobs.open();
  CHECK(partial->size() == 2300);
  partial->append(blobs.bytes(2300, 3200));
  CHECK(partial->is_right());
}

TEST_CASE("Leftovers that are not what their journal says are begun anew") {
  for (const char* damage : {"flipped", "cut", "journal gone", "journal of another size", "journal cut"}) {
    CAPTURE(damage);
    Blobs blobs;
    blobs.leave(2300);
    const fs::path file = blobs.only(".hfpart"), journal = blobs.only(".journal");
    const std::string what = damage;
    if (what == "flipped") {
      std::string text = read_text(file);
      text[100] ^= 1;
      put(file, text);
    }
    if (what == "cut") fs::resize_file(file, 2000);
    if (what == "journal gone") fs::remove(journal);
    if (what == "journal of another size")
      put(journal, "hfpart 1 " + blobs.file.etag() + " 9\n9 " + blobs.file.etag() + "\n");
    if (what == "journal cut") fs::resize_file(journal, 20);
    const auto partial = blobs.open();
    CHECK(partial->size() == 0);
    CHECK(blobs.entries() == 1);  // the damaged one is gone
  }
}

TEST_CASE("A leftover that a living process holds is not touched") {
  Blobs blobs;
  blobs.leave(2300);
  const fs::path file = blobs.only(".hfpart");
  const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(fd, LOCK_EX) == 0);
  {
    const auto partial = blobs.open();
    CHECK(partial->size() == 0);
    remove_worthless_leftovers(blobs.dir.path());
    CHECK(fs::exists(file));
  }
  close(fd);
  CHECK(blobs.open()->size() == 2300);
}

TEST_CASE("A leftover of another machine is taken after a long silence only") {
  Blobs blobs;
  blobs.leave(2300);
  const fs::path file = blobs.only(".hfpart");
  std::string name = file.string();
  const std::size_t owner = name.rfind('/') + 1 + 64 + 1;
  name.replace(owner, 16, "0123456789abcdef");
  fs::rename(file, name);
  fs::rename(file.string() + ".journal", name + ".journal");
  CHECK(blobs.open()->size() == 0);
  CHECK(fs::exists(name));
  timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  REQUIRE(utimensat(AT_FDCWD, name.c_str(), times, 0) == 0);
  CHECK(blobs.open()->size() == 2300);
}

TEST_CASE("Of several leftovers the longest is taken and the others go") {
  Blobs blobs;
  std::unique_ptr<Partial> first = blobs.open(), second = blobs.open();
  first->append(blobs.bytes(0, 1200));
  second->append(blobs.bytes(0, 3200));
  first.reset();
  second.reset();
  CHECK(blobs.entries() == 4);
  const auto partial = blobs.open();
  CHECK(partial->size() == 3200);
  CHECK(blobs.entries() == 2);
}

TEST_CASE("What nobody needs is removed") {
  Blobs blobs;
  blobs.leave(2300);
  remove_worthless_leftovers(blobs.dir.path());
  CHECK(blobs.entries() == 2);  // a later run can go on from it
  put(blobs.dir / blobs.file.etag(), blobs.content);
  remove_worthless_leftovers(blobs.dir.path());
  CHECK(blobs.entries() == 1);
  put(blobs.dir / (blobs.file.etag() + ".x.hfpart.journal"), "of a file that has its name");
  find_leftovers(blobs.dir.path());
  CHECK(blobs.entries() == 1);
}

TEST_CASE("A file of nothing is complete at once") {
  const TempDir dir;
  const TreeFile file{"empty", 0, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "", ""};
  Partial partial(dir.path(), file, kBlock, {});
  CHECK(partial.is_right());
  partial.publish();
  CHECK(fs::is_empty(dir / file.etag()));
}
