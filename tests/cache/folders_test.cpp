#include "cache/store/folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/loopback.h"
#include "support/error_of.h"
#include "support/in_child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

void make_file(Folders& folders, std::string_view path) {
  const auto place = folders.make(path);
  REQUIRE(OpenFile(openat(place.fd(), place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)).is_open());
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

}  // namespace

TEST_CASE("Folders are made where a file is to stand, the root too") {
  const TempDir dir;
  Folders folders(dir / "new/root");
  make_file(folders, "a/b/c.txt");
  make_file(folders, "a/b/d.txt");
  make_file(folders, "top.txt");
  CHECK(fs::is_regular_file(dir / "new/root/a/b/c.txt"));
  CHECK(fs::is_regular_file(dir / "new/root/a/b/d.txt"));
  CHECK(fs::is_regular_file(dir / "new/root/top.txt"));
  folders.sync();
}

TEST_CASE("Nothing is made where a file is only looked for") {
  const TempDir dir;
  Folders absent(dir / "absent");
  CHECK_FALSE(absent.find("a"));
  Folders folders(dir.path());
  CHECK_FALSE(folders.find("a/b"));
  put(dir / "file", "");
  CHECK_FALSE(folders.find("file/b"));
  CHECK(folders.find("b"));
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("More folders than descriptors are kept open") {
  const TempDir dir;
  Folders folders(dir.path());
  for (int i = 0; i < 1500; ++i) make_file(folders, "d" + std::to_string(i) + "/sub/file");
  folders.sync();
  for (int i = 0; i < 1500; ++i) CHECK(fs::exists(dir / ("d" + std::to_string(i)) / "sub/file"));
}

TEST_CASE("A folder that is a link is refused, or followed only below the root") {
  const TempDir dir;
  put(dir / "outside/file", "");
  fs::create_directories(dir / "root/inside");
  fs::create_directory_symlink("inside", dir / "root/in");
  fs::create_directory_symlink("../outside", dir / "root/out");
  fs::create_directory_symlink(dir / "outside", dir / "root/absolute");
  fs::create_symlink("nowhere", dir / "root/dangling");
  Folders strict(dir / "root");
  Folders lenient(dir / "root", Folders::InnerLinks::followed);
  for (const char* name : {"in", "out", "absolute", "dangling"}) {
    CAPTURE(name);
    CHECK(error_of([&] { strict.make(std::string(name) + "/x"); }) == ErrorKind::integrity);
    CHECK_FALSE(strict.find(std::string(name) + "/x"));
  }
  make_file(lenient, "in/x");
  CHECK(fs::exists(dir / "root/inside/x"));
  for (const char* name : {"out", "absolute"}) {
    CAPTURE(name);
    CHECK(error_of([&] { lenient.make(std::string(name) + "/x"); }) == ErrorKind::integrity);
    CHECK_FALSE(lenient.find(std::string(name) + "/file"));
  }
  CHECK(error_of([&] { lenient.make("dangling/x"); }).kind);
  CHECK_FALSE(fs::exists(dir / "outside/x"));
}

TEST_CASE("A path that is none is refused") {
  const TempDir dir;
  Folders folders(dir.path());
  for (const char* path : {"", "/etc/x", "../x", "a/../x", "a//x", "./x"}) {
    CAPTURE(path);
    CHECK(error_of([&] { folders.make(path); }) == ErrorKind::integrity);
  }
}

TEST_CASE("A file in the place of a folder is an error that names it") {
  const TempDir dir;
  put(dir / "a", "");
  Folders folders(dir.path());
  const auto caught = error_of([&] { folders.make("a/b"); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says((dir / "a").string()));
}

TEST_CASE("Folders have the mode of the umask and keep the group's bit") {
  const TempDir dir;
  for (const mode_t mask : {022, 002, 077}) {
    const fs::path root = dir / std::to_string(mask);
    fs::create_directory(root);
    REQUIRE(chmod(root.c_str(), 02775) == 0);
    CHECK(in_child([&] {
            umask(mask);
            Folders(root).make("a/b/file");
            return 0;
          }) == 0);
    CHECK(mode_of(root / "a/b") == (02777 & ~mask));
    CHECK(mode_of(root) == 02775);
  }
}
