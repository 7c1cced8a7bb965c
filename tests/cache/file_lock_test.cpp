#include "cache/store/file_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>

#include "cache/loopback.h"
#include "cache/store/soft_lock.h"
#include "support/as_nobody.h"
#include "support/error_of.h"
#include "support/without_call.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using namespace std::chrono_literals;

namespace {

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

}  // namespace

TEST_CASE("A lock is waited for and its file stays") {
  const TempDir dir;
  const auto file = dir / "x.lock";
  std::atomic<bool> got{false};
  std::thread second;
  {
    const FileLock first(file);
    second = std::thread([&] {
      const FileLock lock(file);
      got = true;
    });
    std::this_thread::sleep_for(50ms);
    CHECK_FALSE(got);
  }
  second.join();
  CHECK(got);
  CHECK(std::filesystem::is_empty(file));
}

TEST_CASE("A lock holds against flock of another program") {
  const TempDir dir;
  const auto file = dir / "x.lock";
  const FileLock lock(file);
  const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(fd >= 0);
  CHECK(flock(fd, LOCK_EX | LOCK_NB) != 0);
  CHECK(claim(fd) == Claim::taken);
  close(fd);
}

TEST_CASE("A lock file that was deleted guards nothing and is made anew") {
  const TempDir dir;
  const auto file = dir / "x.lock";
  const int stale = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(stale, LOCK_EX) == 0);
  std::atomic<bool> got{false};
  std::thread waiting([&] {
    const FileLock lock(file);
    got = true;
  });
  std::this_thread::sleep_for(20ms);
  std::filesystem::remove(file);
  close(stale);  // the waiting one may get this lock, on a file that has no name any more
  waiting.join();
  CHECK(got);
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("A lock in a folder that does not exist is an error") {
  CHECK(error_of([] { const FileLock lock("/no/such/folder/x.lock"); }) == ErrorKind::not_found);
}

TEST_CASE("A lock that is taken is not waited for when it is only tried") {
  const TempDir dir;
  const auto file = dir / "x.lock";
  auto first = FileLock::attempt(file);
  REQUIRE(first);
  CHECK(first->is_held());
  CHECK_FALSE(FileLock::attempt(file));
  first.reset();
  CHECK(FileLock::attempt(file));
}

TEST_CASE("A lock file is the group's to open whatever the umask is") {
  const TempDir dir;
  const mode_t before = umask(077);
  const FileLock lock(dir / "x.lock");
  umask(before);
  CHECK(mode_of(dir / "x.lock") == 0664);
}

TEST_CASE("A lock file of another user is opened for reading") {
  const TempDir dir;
  REQUIRE(chmod(dir.path().c_str(), 0755) == 0);
  put(dir / "x.lock", "");
  REQUIRE(chmod((dir / "x.lock").c_str(), 0444) == 0);
  CHECK(as_nobody([&] {
          const FileLock lock(dir / "x.lock");
          const int fd = open((dir / "x.lock").c_str(), O_RDONLY | O_CLOEXEC);
          return lock.is_held() && flock(fd, LOCK_EX | LOCK_NB) != 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("A lock that is closed to us is gone without") {
  const TempDir dir;
  REQUIRE(chmod(dir.path().c_str(), 0555) == 0);
  CHECK(as_nobody([&] { return FileLock(dir / "x.lock").is_held() ? 1 : 0; }) == 0);
  REQUIRE(chmod(dir.path().c_str(), 0755) == 0);
}

TEST_CASE("A link in the place of a lock file is not followed") {
  const TempDir dir;
  std::filesystem::create_symlink(dir / "target", dir / "x.lock");
  CHECK(error_of([&] { const FileLock lock(dir / "x.lock"); }) == ErrorKind::io);
  CHECK_FALSE(std::filesystem::exists(dir / "target"));
}

TEST_CASE("Where there is no flock the file is the lock, with its holder's name, and goes with it") {
  for (const unsigned code : {ENOSYS, ENOLCK, EOPNOTSUPP}) {
    const TempDir dir;
    const auto file = dir / "x.lock";
    CHECK(in_child([&] {
            if (!without_call(SYS_flock, code)) return 1;
            auto first = FileLock::attempt(file);
            if (!first || !first->is_held()) return 2;
            if (read_text(file) != soft_lock_text()) return 3;
            if (mode_of(file) != 0644) return 4;
            if (FileLock::attempt(file)) return 5;
            first.reset();
            return std::filesystem::exists(file) ? 6 : 0;
          }) == 0);
  }
}

TEST_CASE("Where there is no flock the lock of a process that is gone is taken over") {
  const TempDir dir;
  const auto file = dir / "x.lock";
  CHECK(in_child([&] {  // killed while it held the lock
          if (!without_call(SYS_flock, ENOSYS)) return 1;
          const FileLock lock(file);
          kill(getpid(), SIGKILL);
          return 2;
        }) == -SIGKILL);
  REQUIRE(std::filesystem::file_size(file) > 0);
  CHECK(in_child([&] {
          if (!without_call(SYS_flock, ENOSYS)) return 1;
          const auto lock = FileLock::attempt(file);
          return lock && lock->is_held() && read_text(file) == soft_lock_text() ? 0 : 2;
        }) == 0);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("Where there is no flock a lock of which nothing is known is not waited for without end") {
  const TempDir dir;
  const auto file = dir / "x.lock";
  const auto tried = [&](const std::string& text, int seconds_ago) {
    put(file, text);
    const timespec time = {std::time(nullptr) - seconds_ago, 0};
    const timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
    return in_child([&] {
      if (!without_call(SYS_flock, ENOSYS)) return 90;
      const auto lock = FileLock::attempt(file);
      return !lock ? 0 : lock->is_held() ? 2 : 1;  // waits, goes on without, has it
    });
  };
  CHECK(tried("", 0) == 0);
  CHECK(tried("", 300) == 0);
  CHECK(tried("", 700) == 1);
  CHECK(tried("1\nanother.example\n", 300) == 0);
  CHECK(tried("1\nanother.example\n", 700) == 1);
  CHECK(std::filesystem::exists(file));  // its holder may live
  CHECK(tried("12\nhal", 0) == 0);
  CHECK(tried("12\nhal", 5) == 2);  // half written
  CHECK(tried(soft_lock_text(), 7000) == 0);
}

TEST_CASE("A flock that only pretends to work gives the same lock twice") {
  const TempDir dir;
  CHECK(in_child([&] {
          if (!without_call(SYS_flock, 0)) return 1;
          const auto first = FileLock::attempt(dir / "x.lock");
          const auto second = FileLock::attempt(dir / "x.lock");
          return first && second ? 0 : 2;  // both believe it: nothing may depend on it
        }) == 0);
}
