#include "cache/mirror/part_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "cache/loopback.h"
#include "cache/mirror/leftovers.h"
#include "support/error_of.h"
#include "support/in_child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

struct Folder {
  TempDir dir;
  std::string content = noise(5500, 1);
  TreeFile file{"m.bin", content.size(), std::string(40, 'a'), "", ""};

  Folder() { file.sha256 = sha256_hex(std::as_bytes(std::span(content))); }

  std::span<const std::byte> bytes(std::size_t first, std::size_t count) const {
    return std::as_bytes(std::span(content)).subspan(first, count);
  }
  // A file of `count` bytes that its journal vouches for, and its name.
  fs::path leave(std::size_t count) const {
    PartFile part = PartFile::create(dir.path(), file);
    part.write(0, bytes(0, count));
    part.note(PrefixMark{count, sha256_hex(bytes(0, count))});
    return part.path();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()));
  }
};

bool is_part_name(const std::string& name, const std::string& etag) {
  return name.size() == etag.size() + 14 && name.starts_with(etag + ".") && name.ends_with(".part") &&
         name.substr(etag.size() + 1, 8).find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

TEST_CASE("A partial file is named by its etag and eight digits, never as huggingface_hub's are") {
  const Folder folder;
  const PartFile part = PartFile::create(folder.dir.path(), folder.file);
  CHECK(is_part_name(part.path().filename().string(), folder.file.etag()));
  const auto journal = read_journal(part.path());
  REQUIRE(journal);
  CHECK(journal->etag == folder.file.etag());
  CHECK(journal->size == 5500);
  CHECK(journal->owner == this_process());
}

TEST_CASE("A partial file of which nothing is vouched for is not left behind") {
  const Folder folder;
  { PartFile::create(folder.dir.path(), folder.file).write(0, folder.bytes(0, 100)); }
  CHECK(folder.entries() == 0);
  folder.leave(100);
  CHECK(folder.entries() == 2);
}

TEST_CASE("A file that has its name leaves no journal") {
  const Folder folder;
  PartFile part = PartFile::create(folder.dir.path(), folder.file);
  part.note(PrefixMark{1, folder.file.sha256});
  fs::rename(part.path(), folder.dir / "blob");
  part.publish();
  CHECK(folder.entries() == 1);
}

TEST_CASE("A partial file is taken over by renaming it, its journal with it") {
  const Folder folder;
  const fs::path left = folder.leave(2300);
  Journal journal;
  auto part = PartFile::take_over(left, folder.file, journal);
  REQUIRE(part);
  CHECK(part->path() != left);
  CHECK(part->is_ours());
  CHECK_FALSE(fs::exists(left));
  CHECK_FALSE(fs::exists(left.string() + ".journal"));
  CHECK(journal.vouched_bytes() == 2300);
  CHECK(fs::file_size(part->path()) == 2300);
  CHECK(read_journal(part->path())->vouched_bytes() == 2300);
  CHECK(folder.entries() == 2);
}

TEST_CASE("The journal of a killed process goes on after its half last line") {
  const Folder folder;
  const fs::path left = folder.leave(2300);
  std::ofstream(left.string() + ".journal", std::ios::app) << "prefix 24";
  Journal journal;
  auto part = PartFile::take_over(left, folder.file, journal);
  REQUIRE(part);
  part->note(PrefixMark{2400, folder.file.sha256});
  const auto now = read_journal(part->path());
  REQUIRE(now);
  CHECK(now->vouched_bytes() == 2400);
  CHECK(now->owner == this_process());
}

TEST_CASE("What a living process writes, or another file, is not taken over") {
  const Folder folder;
  PartFile living = PartFile::create(folder.dir.path(), folder.file);
  living.note(PrefixMark{1, folder.file.sha256});
  Journal journal;
  CHECK_FALSE(PartFile::take_over(living.path(), folder.file, journal));
  CHECK(living.is_ours());
  CHECK_FALSE(remove_dead_partial(living.path()));

  const fs::path left = folder.leave(100);
  TreeFile other = folder.file;
  other.size += 1;
  CHECK_FALSE(PartFile::take_over(left, other, journal));
  fs::remove(left.string() + ".journal");
  CHECK_FALSE(PartFile::take_over(left, folder.file, journal));
  CHECK_FALSE(PartFile::take_over(folder.dir / "none", folder.file, journal));
}

TEST_CASE("Whose file was taken over knows it") {
  const Folder folder;
  PartFile part = PartFile::create(folder.dir.path(), folder.file);
  part.note(PrefixMark{1, folder.file.sha256});
  fs::rename(part.path(), folder.dir / "elsewhere");
  CHECK_FALSE(part.is_ours());
  put(part.path(), "another one");
  CHECK_FALSE(part.is_ours());
}

TEST_CASE("A small file is written in one piece and its name tells the process") {
  const Folder folder;
  const int fd = open(folder.dir.path().c_str(), O_RDONLY | O_DIRECTORY);
  const fs::path first = PartFile::write_whole(fd, folder.dir.path(), folder.file, folder.bytes(0, 5500));
  const fs::path second = PartFile::write_whole(fd, folder.dir.path(), folder.file, folder.bytes(0, 10));
  close(fd);
  CHECK(first != second);
  CHECK(is_part_name(first.filename().string(), folder.file.etag()));
  CHECK(is_part_name(second.filename().string(), folder.file.etag()));
  CHECK(read_text(first) == folder.content);
  CHECK(first.filename().string().substr(65, 8) == process_digits());
  CHECK(dead_partials(folder.dir.path()).empty());
}

TEST_CASE("A disk that takes no more is an input or output error and leaves nothing") {
  const Folder folder;
  const int code = in_child([&] {
    const rlimit none{10, 10};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    const int fd = open(folder.dir.path().c_str(), O_RDONLY | O_DIRECTORY);
    try {
      PartFile::write_whole(fd, folder.dir.path(), folder.file, folder.bytes(0, 5500));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::io ? 0 : 2;
    }
    return 1;
  });
  CHECK(code == 0);
  CHECK(folder.entries() == 0);
}
