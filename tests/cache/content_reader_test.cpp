#include "cache/store/content_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "cache/loopback.h"
#include "support/error_of.h"
#include "support/skip.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

std::string hash_of(HashKind kind, const std::string& text) {
  Hasher hasher(kind, text.size());
  hasher.update(std::as_bytes(std::span(text)));
  return hasher.hex();
}

timespec accessed(const fs::path& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_atim;
}

void set_accessed(const fs::path& path, time_t seconds) {
  const timespec times[] = {{seconds, 123}, {seconds + 100, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("Files of every length have the hashes of their bytes") {
  const TempDir dir;
  ContentReader reader(no_progress());
  for (const std::size_t bytes :
       {0u, 1u, 4095u, 4096u, 524287u, 524288u, 2u << 20, (2u << 20) + 1, 9'000'001u}) {
    CAPTURE(bytes);
    const std::string text = noise(bytes, bytes);
    put(dir / "file", text);
    const ContentHashes hashes = reader.hash(QuietFile(dir / "file"), {true, true});
    CHECK(hashes.bytes == bytes);
    CHECK(hashes.sha256 == hash_of(HashKind::sha256, text));
    CHECK(hashes.git_sha1 == hash_of(HashKind::git_sha1, text));
  }
}

TEST_CASE("Only the hashes that are asked for are taken") {
  const TempDir dir;
  put(dir / "file", "abc");
  const ContentHashes hashes = ContentReader(no_progress()).hash(QuietFile(dir / "file"), {.git_sha1 = true});
  CHECK(hashes.sha256.empty());
  CHECK(hashes.git_sha1 == hash_of(HashKind::git_sha1, "abc"));
}

TEST_CASE("Access times stay as they were") {
  const TempDir dir;
  for (const std::size_t bytes : {100u, 3u << 20}) {
    put(dir / "file", noise(bytes, 1));
    set_accessed(dir / "file", 1'000'000);  // older than the change, so that any reading would move it
    ContentReader(no_progress()).hash(QuietFile(dir / "file"), {.sha256 = true});
    read_quietly(dir / "file", 4 << 20);
    CHECK(accessed(dir / "file").tv_sec == 1'000'000);
    CHECK(accessed(dir / "file").tv_nsec == 123);
  }
}

TEST_CASE("A file that grows while it is read is read no further than needed to see it") {
  const TempDir dir;
  for (const std::size_t bytes : {1000u, 4u << 20}) {
    put(dir / "file", noise(bytes, 1));
    const QuietFile file(dir / "file");
    REQUIRE(truncate((dir / "file").c_str(), 64 << 20) == 0);
    CHECK(ContentReader(no_progress()).hash(file, {.sha256 = true}).bytes == bytes + 1);
  }
}

TEST_CASE("A file that shrinks while it is read tells how much there was") {
  const TempDir dir;
  put(dir / "file", noise(4 << 20, 1));
  const QuietFile file(dir / "file");
  REQUIRE(truncate((dir / "file").c_str(), 1000) == 0);
  CHECK(ContentReader(no_progress()).hash(file, {.sha256 = true}).bytes == 1000);
}

TEST_CASE("What cannot be opened or read is an error, and the reader goes on") {
  const TempDir dir;
  CHECK(error_of([&] { QuietFile(dir / "none"); }) == ErrorKind::not_found);
  fs::create_directory(dir / "folder");
  put(dir / "file", "abc");
  ContentReader reader(no_progress());
  CHECK(error_of([&] { reader.hash(QuietFile(dir / "folder"), {.sha256 = true}); }) == ErrorKind::io);
  CHECK(reader.hash(QuietFile(dir / "file"), {.sha256 = true}).sha256 == hash_of(HashKind::sha256, "abc"));
  CHECK(error_of([&] { read_quietly(dir / "file", 2); }) == ErrorKind::integrity);
}

TEST_CASE("The page cache keeps what it held and is not filled with the rest") {
  const TempDir dir;
  const std::size_t bytes = 8 << 20;
  put(dir / "file", noise(bytes, 1));
  const auto held = [&] {
    const int fd = open((dir / "file").c_str(), O_RDONLY | O_CLOEXEC);
    void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    std::vector<unsigned char> pages(bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    mincore(map, bytes, pages.data());
    munmap(map, bytes);
    close(fd);
    return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; })) *
           100 / pages.size();
  };
  const int fd = open((dir / "file").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(fsync(fd) == 0);
  ContentReader(no_progress()).hash(QuietFile(dir / "file"), {.sha256 = true});
  CHECK(held() > 95);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  if (held() > 5) return skip("the file system is in memory");
  ContentReader(no_progress()).hash(QuietFile(dir / "file"), {.sha256 = true});
  CHECK(held() < 20);
}
