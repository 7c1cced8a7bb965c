#include "base/safe_dir.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "base/file.h"
#include "support/error_of.h"
#include "support/in_child.h"
#include "support/skip.h"
#include "support/temp_dir.h"

using namespace hf;
using hf::test::error_of;
using hf::test::in_child;
using hf::test::skip;
using hf::test::TempDir;
namespace fs = std::filesystem;

namespace {

std::string read_and_close(int fd) {
  char text[64];
  const ssize_t got = read(fd, text, sizeof text);
  close(fd);
  return {text, static_cast<std::size_t>(got < 0 ? 0 : got)};
}

void put(const SafeDir& dir, std::string_view name, std::string_view text) {
  const int fd = dir.open(name, O_WRONLY | O_CREAT | O_TRUNC);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  REQUIRE(written);
}

bool opens(const SafeDir& dir, std::string_view name, int flags = O_RDONLY) {
  return close(dir.open(name, flags)) == 0;
}

// From here on this process' kernel has no openat2.
bool forget_openat2() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

TEST_CASE("a file is written and read below the folder, folders on the way are made") {
  const TempDir temp;
  const SafeDir dir(temp.path());
  put(dir, "a/b/c.txt", "hello");
  CHECK(read_and_close(dir.open("a/b/c.txt", O_RDONLY)) == "hello");
  CHECK(fs::is_regular_file(temp / "a/b/c.txt"));
  CHECK(dir.root() == temp.path());
}

TEST_CASE("a descriptor is not inherited by programs that are started") {
  const TempDir temp;
  const SafeDir dir(temp.path());
  const int fd = dir.open("a", O_WRONLY | O_CREAT);
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  close(fd);
}

TEST_CASE("a folder or file that is missing is not found") {
  const TempDir temp;
  const SafeDir dir(temp.path());
  CHECK(error_of([&] { SafeDir(temp / "none"); }) == ErrorKind::not_found);
  CHECK(error_of([&] { dir.open("a/b", O_RDONLY); }) == ErrorKind::not_found);
  CHECK_FALSE(fs::exists(temp / "a"));
}

TEST_CASE("a file is no folder to open below") {
  const TempDir temp;
  write_file(temp / "file", "x");
  CHECK(error_of([&] { SafeDir(temp / "file"); }) == ErrorKind::io);
  CHECK(error_of([&] { SafeDir(temp.path()).open("file/x", O_RDONLY); }) == ErrorKind::io);
  CHECK(error_of([&] { SafeDir(temp.path()).open("file/x", O_WRONLY | O_CREAT); }) == ErrorKind::io);
}

TEST_CASE("a hostile name never reaches the file system") {
  const TempDir temp;
  fs::create_directory(temp / "root");
  write_file(temp / "secret", "s");
  const SafeDir dir(temp / "root");
  for (const char* name : {"../secret", "/etc/passwd", "a/../../secret", "", "a\\b"}) {
    CHECK(error_of([&] { dir.open(name, O_RDONLY); }) == ErrorKind::integrity);
    CHECK(error_of([&] { dir.open(name, O_WRONLY | O_CREAT); }) == ErrorKind::integrity);
    CHECK(error_of([&] { dir.make_folders(name); }) == ErrorKind::integrity);
  }
  CHECK(fs::is_empty(temp / "root"));
}

TEST_CASE("a symbolic link that leads out is refused, for reading, writing and making folders") {
  const TempDir temp;
  fs::create_directories(temp / "root");
  fs::create_directories(temp / "outside");
  write_file(temp / "outside/secret", "s");
  const SafeDir dir(temp / "root");
  fs::create_symlink("../outside", temp / "root/relative");
  fs::create_symlink(temp / "outside", temp / "root/absolute");
  fs::create_symlink("../outside/secret", temp / "root/file");
  fs::create_symlink("../outside/new", temp / "root/dangling");
  for (const char* name : {"relative/secret", "absolute/secret", "file"}) {
    const auto caught = error_of([&] { dir.open(name, O_RDONLY); });
    CHECK(caught == ErrorKind::integrity);
    CHECK(caught.says("leads out of"));
  }
  for (const char* name : {"relative/new", "relative/deep/new", "absolute/deep/new", "file", "dangling"})
    CHECK(error_of([&] { dir.open(name, O_WRONLY | O_CREAT); }) == ErrorKind::integrity);
  CHECK(error_of([&] { dir.make_folders("relative/a/b/c"); }) == ErrorKind::integrity);
  CHECK(std::distance(fs::directory_iterator(temp / "outside"), {}) == 1);
}

TEST_CASE("a symbolic link inside the folder is followed, as the cache's snapshots need") {
  const TempDir temp;
  fs::create_directories(temp / "blobs");
  fs::create_directories(temp / "snapshots/main");
  write_file(temp / "blobs/abc", "blob");
  fs::create_symlink("../../blobs/abc", temp / "snapshots/main/config.json");
  CHECK(read_and_close(SafeDir(temp.path()).open("snapshots/main/config.json", O_RDONLY)) == "blob");
}

TEST_CASE("links in a circle are refused") {
  const TempDir temp;
  fs::create_symlink("b", temp / "a");
  fs::create_symlink("a", temp / "b");
  CHECK(error_of([&] { SafeDir(temp.path()).open("a", O_RDONLY); }) == ErrorKind::integrity);
}

TEST_CASE("the folder stays the same when its path is moved and replaced") {
  const TempDir temp;
  fs::create_directory(temp / "root");
  const SafeDir dir(temp / "root");
  fs::rename(temp / "root", temp / "moved");
  fs::create_directory(temp / "root");
  put(dir, "x", "1");
  CHECK(fs::exists(temp / "moved/x"));
  CHECK(fs::is_empty(temp / "root"));
}

TEST_CASE("without openat2 every link is refused and plain files work") {
  const TempDir temp;
  fs::create_directories(temp / "root/inside");
  fs::create_directories(temp / "outside");
  write_file(temp / "outside/secret", "s");
  write_file(temp / "root/inside/file", "f");
  fs::create_symlink("../outside", temp / "root/folder");
  fs::create_symlink("../outside/secret", temp / "root/link");
  fs::create_symlink("inside", temp / "root/inner");
  const int code = in_child([&] {
    const SafeDir dir(temp / "root");
    if (!forget_openat2()) return 77;
    if (syscall(SYS_openat2, 0, "", nullptr, 0) != -1 || errno != ENOSYS) return 1;
    if (!opens(dir, "inside/file") || !opens(dir, "new/deep/file", O_WRONLY | O_CREAT)) return 2;
    int step = 3;
    for (const char* name : {"folder/secret", "link", "inner/file"}) {
      if (!(error_of([&] { dir.open(name, O_RDONLY); }) == ErrorKind::integrity)) return step;
      ++step;
    }
    if (!(error_of([&] { dir.open("folder/a/b", O_WRONLY | O_CREAT); }) == ErrorKind::integrity)) return 6;
    return error_of([&] { dir.open("inside/none", O_RDONLY); }) == ErrorKind::not_found ? 0 : 7;
  });
  if (code == 77) return skip("the kernel has no seccomp");
  CHECK(code == 0);
  CHECK(fs::exists(temp / "root/new/deep/file"));
  CHECK(std::distance(fs::directory_iterator(temp / "outside"), {}) == 1);
}
