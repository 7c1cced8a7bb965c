#include "cache/store/content_copy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/loopback.h"
#include "cache/store/open_file.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

std::string copied(const fs::path& from, const fs::path& to) {
  const OpenFile source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const OpenFile target(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  REQUIRE(source.is_open());
  REQUIRE(target.is_open());
  copy_content(source.get(), target.get(), to);
  return read_text(to);
}

}  // namespace

TEST_CASE("A copy has the content, whatever its length") {
  const TempDir dir;
  for (const std::size_t bytes : {0u, 1u, 4096u, 3'000'001u}) {
    const std::string text = noise(bytes, bytes);
    put(dir / "from", text);
    CHECK(copied(dir / "from", dir / std::to_string(bytes)) == text);
  }
}

TEST_CASE("What the kernel cannot copy between is copied through memory") {
  const TempDir dir;
  // A file of another file system that says it is empty.
  CHECK(copied("/proc/self/cmdline", dir / "to") == copied("/proc/self/cmdline", dir / "again"));
  CHECK(fs::file_size(dir / "to") > 0);
}

TEST_CASE("A copy onto a full disk is an error") {
  const TempDir dir;
  put(dir / "from", "abc");
  const OpenFile source(open((dir / "from").c_str(), O_RDONLY | O_CLOEXEC));
  const OpenFile full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  const auto caught = error_of([&] { copy_content(source.get(), full.get(), "to"); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says("to: "));
}
