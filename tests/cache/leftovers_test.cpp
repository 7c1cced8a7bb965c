#include "cache/mirror/leftovers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "cache/loopback.h"
#include "cache/mirror/part_file.h"
#include "support/in_child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kEtag(64, 'e');

PartOwner of_another_machine() { return {"elsewhere", "other-boot", "pid:[9]", 1, 1}; }

struct Folder {
  TempDir dir;

  // A partial file as `owner` would have left it.
  fs::path leave(const PartOwner& owner, const std::string& digits = "01234567") const {
    const fs::path path = dir / (kEtag + "." + digits + ".part");
    put(path, std::string(500, 'x'));
    put(path.string() + ".journal",
        journal_head(kEtag, 1000) + owner_line(owner) + prefix_line({500, kEtag}));
    return path;
  }
  std::size_t dead() const { return dead_partials(dir.path()).size(); }
};

// The number of a process that has ended.
std::uint64_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return static_cast<std::uint64_t>(child);
}

void make_old(const fs::path& path) {
  const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("A partial file of this machine is dead when its lock is free") {
  const Folder folder;
  PartOwner owner = this_process();
  const fs::path path = folder.leave(owner);
  const auto found = find_leftovers(folder.dir.path());
  REQUIRE(found.size() == 1);
  CHECK(found.begin()->first == kEtag);
  CHECK(found.begin()->second.bytes == 500);
  REQUIRE(folder.dead() == 1);
  CHECK(dead_partials(folder.dir.path())[0].bytes > 0);
  CHECK(dead_partials(folder.dir.path())[0].path == path);

  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(fd, LOCK_EX) == 0);
  CHECK(folder.dead() == 0);
  CHECK_FALSE(remove_dead_partial(path));
  close(fd);
  CHECK(remove_dead_partial(path));
  CHECK(fs::is_empty(folder.dir.path()));
}

TEST_CASE("A machine that was started anew has no process of before") {
  const Folder folder;
  PartOwner owner = this_process();
  owner.boot = "an-earlier-one";
  folder.leave(owner);
  CHECK(folder.dead() == 1);
}

TEST_CASE("A partial file of another machine is dead after a long silence only") {
  const Folder folder;
  const fs::path path = folder.leave(of_another_machine());
  CHECK(folder.dead() == 0);
  make_old(path);
  REQUIRE(folder.dead() == 1);
  CHECK(dead_partials(folder.dir.path())[0].age >= std::chrono::hours(0));
}

TEST_CASE("Without a journal the digits of the name tell whether the process lives") {
  const Folder folder;
  const auto leave = [&](std::string digits) {
    put(folder.dir / (kEtag + "." + digits + ".part"), "x");
    return folder.dir / (kEtag + "." + digits + ".part");
  };
  leave(process_digits());
  CHECK(folder.dead() == 0);
  std::array<char, 17> digits{};
  const auto kernel = std::stoul(process_digits(), nullptr, 16) & ~((1ul << 22) - 1);
  snprintf(digits.data(), digits.size(), "%08lx", kernel | ended_process());
  const fs::path gone = leave(digits.data());
  REQUIRE(folder.dead() == 1);
  CHECK(remove_dead_partial(gone));
  snprintf(digits.data(), digits.size(), "%08lx", (kernel ^ 0x80000000ul) | 4711);
  const fs::path elsewhere = leave(digits.data());
  CHECK(folder.dead() == 0);
  make_old(elsewhere);
  CHECK(folder.dead() == 1);
}

TEST_CASE("A journal without its file is dead with its process") {
  const Folder folder;
  PartOwner owner = this_process();
  fs::remove(folder.leave(owner));
  CHECK(folder.dead() == 0);
  owner.started += 1;  // the number was given to another process
  fs::remove(folder.leave(owner));
  REQUIRE(folder.dead() == 1);
  owner = this_process();
  owner.process = ended_process();
  fs::remove(folder.leave(owner));
  REQUIRE(folder.dead() == 1);
  CHECK(remove_dead_partial(dead_partials(folder.dir.path())[0].path));
  CHECK(fs::is_empty(folder.dir.path()));
}

TEST_CASE("Partial files of earlier versions are dead after a long silence") {
  const Folder folder;
  const fs::path path = folder.dir / (kEtag + ".0123456789abcdef01234567.hfpart");
  put(path, "x");
  put(path.string() + ".journal", "hfpart 1 " + kEtag + " 9\n9 " + kEtag + "\n");
  CHECK(folder.dead() == 0);
  make_old(path);
  REQUIRE(folder.dead() == 1);
  CHECK(remove_dead_partial(path));
  CHECK(fs::is_empty(folder.dir.path()));
}

TEST_CASE("Only worthless leftovers are removed by a download") {
  const Folder folder;
  const fs::path path = folder.leave(this_process());
  remove_worthless_leftovers(folder.dir.path(), [](const std::string&) { return false; });
  CHECK(fs::exists(path));
  remove_worthless_leftovers(folder.dir.path(), [](const std::string& etag) { return etag == kEtag; });
  CHECK(fs::is_empty(folder.dir.path()));
  put(folder.leave(this_process()).string() + ".journal",
      journal_head(kEtag, 1000) + owner_line(this_process()));
  remove_worthless_leftovers(folder.dir.path(), [](const std::string&) { return false; });
  CHECK(fs::is_empty(folder.dir.path()));
}

TEST_CASE("What is no partial file of ours is left alone") {
  const Folder folder;
  for (const char* name : {"blob", "x.part", "x.01234567.part", "x.hfpart"}) put(folder.dir / name, "x");
  put(folder.dir / kEtag, "x");
  put(folder.dir / (kEtag + ".incomplete"), "x");
  put(folder.dir / (kEtag + ".01234567.incomplete"), "x");
  fs::create_symlink("/etc/passwd", folder.dir / (kEtag + ".01234567.part"));
  fs::create_directory(folder.dir / (kEtag + ".89abcdef.part"));
  for (const auto& entry : fs::directory_iterator(folder.dir.path()))
    if (entry.is_regular_file() && !entry.is_symlink()) make_old(entry.path());
  CHECK(folder.dead() == 0);
}
