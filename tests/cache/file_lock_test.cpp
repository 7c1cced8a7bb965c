#include "cache/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cache/loopback.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using namespace std::chrono_literals;

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
