// A disk that is full, may not be written to or belongs to several users: errors that name what is wrong,
// nothing lost, and the next run goes on.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/file.h"
#include "campaign/checks.h"
#include "campaign/world.h"
#include "support/skip.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

const std::string kHfcache = std::string(HF_PROGRAM_DIR) + "/hfcache";

void check_none(const Problems& problems) {
  for (const std::string& problem : problems) FAIL_CHECK(problem);
}

// `script` in a shell of its own mount namespace, with the program and what to do as "$@".
Ended in_own_mounts(const World& world, const std::string& script) {
  auto variables = world.variables();
  variables["COPY"] = (world.folder() / "copy").string();
  return run("/usr/bin/env",
             {"unshare", "-rm", "/bin/sh", "-c", script, "sh", kHfcache, "download", World::kRepo},
             variables);
}

bool can_mount() {
  return run("/usr/bin/env", {"unshare", "-rm", "/bin/sh", "-c", "mount -t tmpfs none /mnt"}).code == 0;
}

// After a run that failed for want of room: what is there is right, and a run with room completes.
void check_after(World& world, const Ended& ended, const std::string& says) {
  CAPTURE(ended.err);
  CHECK(ended.code == 8);
  CHECK(ended.out.empty());
  CHECK(("\n" + ended.err).find("\nhfcache: ") != std::string::npos);
  CHECK(ended.err.find(says) != std::string::npos);
  Problems problems;
  check_cache(world.repo_folder(), problems);
  CHECK_FALSE(fs::exists(world.repo_folder() / "refs/main"));
  if (const Finish again = world.download(std::chrono::seconds(10)); again.kind)
    problems.push_back(again.message);
  check_cache(world.repo_folder(), problems);
  check_snapshot(world.source(), world.snapshot(), problems);
  check_nothing_left(world.repo_folder(), problems);
  check_none(problems);
}

}  // namespace

TEST_CASE("A disk that becomes full at any byte loses nothing") {
  use_memory_for_folders();
  std::mt19937_64 random(11);
  for (const std::uint64_t bytes : {0, 100, 5'000, 300'000, 1'000'000, 1'500'000, 2'500'000}) {
    CAPTURE(bytes);
    World world(random, {}, {.most_files = 6, .most_bytes = 400'000});
    std::ofstream(world.source() / "large.bin", std::ios::binary) << random_bytes(random, 3'000'000);
    auto variables = world.variables();
    variables["LD_PRELOAD"] = HF_SMALL_DISK;
    variables["HF_DISK_ROOT"] = world.cache_root().string();
    variables["HF_DISK_BYTES"] = std::to_string(bytes);
    check_after(world, run("hfcache", {"download", World::kRepo}, variables), "No space left on device");
  }
}

TEST_CASE("A small disk is told before the first byte") {
  use_memory_for_folders();
  if (!can_mount()) return skip("no mounts of one's own");
  std::mt19937_64 random(12);
  World world(random, {}, {.most_files = 4, .most_bytes = 400'000});
  std::ofstream(world.source() / "large.bin", std::ios::binary) << random_bytes(random, 3'000'000);
  fs::create_directories(world.cache_root());
  const Ended ended = in_own_mounts(world,
                                    "mount -t tmpfs -o size=1m none \"$HF_HUB_CACHE\" && \"$@\"; code=$?; "
                                    "cp -a \"$HF_HUB_CACHE\" \"$COPY\"; exit $code");
  CAPTURE(ended.err);
  CHECK(ended.code == 8);
  CHECK(ended.err.find(world.cache_root().string()) != std::string::npos);
  CHECK(world.hub().bytes_served("/resolve/") == 0);
  CHECK_FALSE(fs::exists(world.folder() / "copy/models--acme--made/refs/main"));
}

TEST_CASE("A cache that may not be written to serves what it has and names what it lacks") {
  use_memory_for_folders();
  if (!can_mount()) return skip("no mounts of one's own");
  const std::string read_only =
      "mount --bind \"$HF_HUB_CACHE\" \"$HF_HUB_CACHE\" && mount -o remount,bind,ro \"$HF_HUB_CACHE\" && "
      "exec \"$@\"";
  std::mt19937_64 random(13);
  World world(random, {}, {.most_files = 6, .most_bytes = 400'000});
  REQUIRE_FALSE(world.download(std::chrono::seconds(10)).kind);
  const Ended whole = in_own_mounts(world, read_only);
  CAPTURE(whole.err);
  CHECK(whole.code == 0);
  CHECK(whole.out == world.snapshot().string() + "\n");

  world.change_source(random);
  const Ended lacking = in_own_mounts(world, read_only);
  CAPTURE(lacking.err);
  CHECK(lacking.code == 8);
  CHECK(lacking.err.find(world.cache_root().string()) != std::string::npos);
  Problems problems;
  check_cache(world.repo_folder(), problems);
  check_none(problems);
}

TEST_CASE("Two users with two umasks share a cache") {
  use_memory_for_folders();
  std::mt19937_64 random(14);
  World world(random, {}, {.most_files = 6, .most_bytes = 400'000});
  const auto download = [&](const std::string& mask) {
    return run("/bin/sh",
               {"-c", "umask " + mask + "; exec \"$0\" \"$@\"", kHfcache, "download", World::kRepo},
               world.variables());
  };
  const auto mode_of = [](const fs::path& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
  };
  CHECK(download("002").code == 0);
  const fs::path first = fs::canonical(world.snapshot() / "model.safetensors");
  CHECK(mode_of(first) == 0664);
  CHECK(mode_of(world.snapshot()) == 0775);
  fs::permissions(world.repo_folder() / "snapshots", fs::perms::set_gid, fs::perm_options::add);
  world.change_source(random);
  CHECK(download("022").code == 0);
  CHECK(mode_of(first) == 0664);
  CHECK(mode_of(fs::canonical(world.snapshot() / "new.txt")) == 0644);
  CHECK(mode_of(world.snapshot()) == 02755);
  Problems problems;
  check_cache(world.repo_folder(), problems);
  check_snapshot(world.source(), world.snapshot(), problems);
  check_none(problems);
}
