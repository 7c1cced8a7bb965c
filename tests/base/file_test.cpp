#include "base/file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "support/error_of.h"
#include "support/in_child.h"
#include "support/temp_dir.h"

using namespace hf;
using hf::test::error_of;
using hf::test::in_child;
using hf::test::TempDir;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t entries(const fs::path& folder) { return std::distance(fs::directory_iterator(folder), {}); }

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

TEST_CASE("a mapped file shows its bytes, also after being moved") {
  const TempDir temp;
  write_file(temp / "a", "hello");
  write_file(temp / "b", "other");
  MappedFile a(temp / "a");
  CHECK(text_of(a) == "hello");
  MappedFile moved(std::move(a));
  CHECK(text_of(moved) == "hello");
  MappedFile b(temp / "b");
  b = std::move(moved);
  CHECK(text_of(b) == "hello");
  CHECK(b.path() == temp / "a");
}

TEST_CASE("an empty file maps to an empty span") {
  const TempDir temp;
  write_file(temp / "a", "");
  const MappedFile file(temp / "a");
  CHECK(file.bytes().empty());
  file.drop(0, 100);
}

TEST_CASE("dropped pages read the same again") {
  const TempDir temp;
  const std::string text(100'000, 'q');
  write_file(temp / "a", text);
  const MappedFile file(temp / "a");
  CHECK(text_of(file) == text);
  file.drop(1, 50'000);
  file.drop(0, 1'000'000);
  file.drop(99'999, 1);
  CHECK(text_of(file) == text);
}

TEST_CASE("what is no regular file is refused without blocking") {
  const TempDir temp;
  REQUIRE(mkfifo((temp / "pipe").c_str(), 0600) == 0);
  for (const fs::path& path : {temp.path(), temp / "pipe", fs::path("/dev/zero")}) {
    CHECK(error_of([&] { MappedFile{path}; }) == ErrorKind::integrity);
    CHECK(error_of([&] { read_text(path); }) == ErrorKind::integrity);
  }
  CHECK(error_of([&] { MappedFile{temp / "none"}; }) == ErrorKind::not_found);
}

TEST_CASE("what is no regular file is not written over") {
  const TempDir folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_of([&] { write_file(pipe, "text"); }) == ErrorKind::usage);
  CHECK(error_of([&] { write_file(folder.path(), "text"); }) == ErrorKind::usage);
  CHECK(fs::is_fifo(pipe));
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a path is escaped in the message") {
  const auto caught = error_of([] { read_text("/none/\x1b[31m"); });
  CHECK(caught.message == "/none/\\x1b[31m: No such file or directory");
}

TEST_CASE("a file has its name only after commit") {
  const TempDir temp;
  AtomicFile file(temp / "model.onnx");
  file.write("abc");
  CHECK_FALSE(fs::exists(temp / "model.onnx"));
  file.commit();
  CHECK(read_text(temp / "model.onnx") == "abc");
  CHECK(entries(temp.path()) == 1);
}

TEST_CASE("without commit nothing is left, and an older file stays as it was") {
  const TempDir temp;
  write_file(temp / "a", "old");
  { AtomicFile(temp / "a").write("new, but not finished"); }
  CHECK(read_text(temp / "a") == "old");
  CHECK(entries(temp.path()) == 1);
}

TEST_CASE("a commit replaces an older file, and who has it open keeps it whole") {
  const TempDir temp;
  write_file(temp / "a", "old");
  const MappedFile open(temp / "a");
  write_file(temp / "a", "newer");
  CHECK(text_of(open) == "old");
  CHECK(read_text(temp / "a") == "newer");
}

TEST_CASE("a reader sees the old or the new file, never a part") {
  const TempDir temp;
  const std::string a(20'000, 'a'), b(30'000, 'b');
  write_file(temp / "x", a);
  std::thread writer([&] {
    for (int i = 0; i < 30; ++i) write_file(temp / "x", i % 2 == 0 ? b : a);
  });
  bool whole = true;
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_text(temp / "x");
    whole = whole && (seen == a || seen == b);
  }
  writer.join();
  CHECK(whole);
}

TEST_CASE("a leftover of a killed process does not stand in the way") {
  const TempDir temp;
  const auto killed = [&] {
    AtomicFile file(temp / "a");
    file.write("half");
    return raise(SIGKILL);
  };
  REQUIRE(in_child(killed) == -SIGKILL);
  REQUIRE(entries(temp.path()) == 1);
  CHECK_FALSE(fs::exists(temp / "a"));
  // A container gives the same process id again, and with it the same temporary names.
  for (unsigned i = 0; i < 64; ++i)
    std::ofstream(temp / (".a." + std::to_string(getpid()) + "." + std::to_string(i) + ".tmp")) << "stale";
  write_file(temp / "a", "whole");
  CHECK(read_text(temp / "a") == "whole");
}

TEST_CASE("a name of 255 bytes can be written") {
  const TempDir temp;
  const std::string name(255, 'n');
  write_file(temp / name, "x");
  CHECK(read_text(temp / name) == "x");
  CHECK(entries(temp.path()) == 1);
}

TEST_CASE("two files for one name written at once: each whole, the last commit stays") {
  const TempDir temp;
  AtomicFile first(temp / "a"), second(temp / "a");
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  CHECK(read_text(temp / "a") == "first");
  CHECK(entries(temp.path()) == 1);
}

TEST_CASE("a failed commit leaves nothing") {
  const TempDir temp;
  const auto blocked = [&] {  // a folder takes the name between the first byte and the commit
    AtomicFile file(temp / "a");
    file.write("x");
    fs::create_directories(temp / "a/b");
    file.commit();
  };
  CHECK(error_of(blocked) == ErrorKind::io);
  CHECK(entries(temp.path()) == 1);
  CHECK(error_of([&] { write_file(temp / "none/a", "x"); }) == ErrorKind::io);
}

TEST_CASE("a write that does not fit is an io error and leaves nothing") {
  const TempDir temp;
  const auto fill = [&] {  // the limit stands for a full disk
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10'000, 10'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const auto caught = error_of([&] { write_file(temp / "a", std::string(50'000, 'x')); });
    return caught == ErrorKind::io && caught.says("File too large") ? 0 : 1;
  };
  CHECK(in_child(fill) == 0);
  CHECK(entries(temp.path()) == 0);
}

TEST_CASE("padding is zeros up to the offset, and none behind it") {
  const TempDir temp;
  AtomicFile file(temp / "a");
  file.write("abc");
  file.pad_to(10'000);
  CHECK(file.size() == 10'000);
  file.pad_to(5);
  CHECK(file.size() == 10'000);
  file.write("d");
  file.commit();
  CHECK(read_text(temp / "a") == "abc" + std::string(9'997, '\0') + "d");
}

TEST_CASE("a text file above its limit is an integrity error") {
  const TempDir temp;
  write_file(temp / "a", "12345");
  CHECK(read_text(temp / "a", 5) == "12345");
  const auto caught = error_of([&] { read_text(temp / "a", 4); });
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("has 5 bytes, at most 4"));
}

TEST_CASE("a file in the current folder is written and read without a folder in its name") {
  const TempDir temp;
  const fs::path before = fs::current_path();
  fs::current_path(temp.path());
  write_file("a", "x");
  const std::string text = read_text("a");
  fs::current_path(before);
  CHECK(text == "x");
}
