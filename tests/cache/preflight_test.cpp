#include "cache/mirror/preflight.h"

#include <sys/resource.h>

#include <algorithm>

#include "cache/loopback.h"
#include "support/error_of.h"
#include "support/in_child.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

DiskFacts roomy() {
  DiskFacts disk;
  disk.folder = "/mnt/disk";
  disk.kind = "ext4";
  disk.free_bytes = 100 * kGiB;
  disk.free_files = 1'000'000;
  return disk;
}

PreflightNeeds needs(std::initializer_list<std::string_view> paths, std::uint64_t size = 10) {
  PreflightNeeds out;
  out.names_below = "/mnt/disk/models--a--b/snapshots/0123456789012345678901234567890123456789";
  for (const std::string_view path : paths) out.files.push_back({path, "", size, size, true});
  return out;
}

std::size_t warnings(std::initializer_list<std::string_view> paths) {
  return preflight(needs(paths), roomy()).size();
}

Caught refused(const PreflightNeeds& what, const DiskFacts& disk = roomy()) {
  return error_of([&] { preflight(what, disk); });
}

Caught portable(std::string_view path) {
  PreflightNeeds what = needs({path});
  what.portable = true;
  return refused(what);
}

}  // namespace

TEST_CASE("Plain names on a disk with room are nothing to speak of") {
  CHECK(warnings(
            {"config.json", "onnx/model.onnx", "a/b/c/d.txt", "caf\xc3\xa9.txt", "-rf", ".git/config"}) == 0);
  CHECK(warnings({}) == 0);
}

TEST_CASE("A disk without room is refused, with what it has and what is needed") {
  DiskFacts disk = roomy();
  disk.free_bytes = 5000;
  const Caught caught = refused(needs({"a", "b"}, 4096), disk);
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says("/mnt/disk"));
  CHECK(caught.says("room for 5000 bytes"));
  CHECK(caught.says("needs 16384"));
  disk.free_bytes = 16384;
  CHECK(refused(needs({"a", "b"}, 4096), disk).kind == std::nullopt);
}

TEST_CASE("What is there already needs no room") {
  DiskFacts disk = roomy();
  disk.free_bytes = disk.free_files = 0;
  PreflightNeeds what = needs({"a"}, kGiB);
  what.files[0].bytes_left = 0;
  what.files[0].is_new = false;
  CHECK(refused(what, disk).kind == std::nullopt);
}

TEST_CASE("Sizes that add up beyond all numbers are too much, not little") {
  CHECK(refused(needs({"a", "b"}, UINT64_MAX)) == ErrorKind::io);
}

TEST_CASE("Inodes can run out before bytes do") {
  DiskFacts disk = roomy();
  disk.free_files = 3;
  CHECK(refused(needs({"a", "b"}), disk).says("room for 3 files"));
  disk.free_files = 4;
  CHECK(refused(needs({"a", "b"}), disk).kind == std::nullopt);
  disk.free_files.reset();  // as many as there is room for
  CHECK(refused(needs({"a", "b"}), disk).kind == std::nullopt);
}

TEST_CASE("A file larger than the file system's largest is refused by name") {
  DiskFacts disk = roomy();
  disk.largest_file = 4 * kGiB - 1;
  disk.largest_file_by = "vfat";
  const Caught caught = refused(needs({"model.safetensors"}, 4 * kGiB), disk);
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says("\"model.safetensors\""));
  CHECK(caught.says("4294967295 (vfat)"));
  CHECK(refused(needs({"model.safetensors"}, 4 * kGiB - 1), disk).kind == std::nullopt);
}

TEST_CASE("Names longer than the file system takes") {
  DiskFacts disk = roomy();
  disk.longest_name = 143;  // eCryptfs
  const std::string name(144, 'n'), fits(143, 'n');
  CHECK(refused(needs({name}), disk).says("needs a name of 144 bytes"));
  CHECK(refused(needs({name + "/x"}), disk) == ErrorKind::io);
  CHECK(refused(needs({fits + "/" + fits}), disk).kind == std::nullopt);
  PreflightNeeds with_suffix = needs({fits});
  with_suffix.longest_suffix = 9;
  CHECK(refused(with_suffix, disk).says("152 bytes"));
}

TEST_CASE("A file system whose names are too short for partial files") {
  DiskFacts disk = roomy();
  disk.longest_name = 85;
  CHECK(refused(needs({"a"}), disk).says("86 are needed"));
  disk.longest_name = 86;
  CHECK(refused(needs({"a"}), disk).kind == std::nullopt);
}

TEST_CASE("Paths longer than can be opened") {
  std::string path;
  while (path.size() < 4040) path += std::string(199, 'd') + "/";
  path += "f";
  CHECK(refused(needs({path})).says("whole path"));
}

TEST_CASE("Names that must not become paths are refused, all of them, in list order") {
  PreflightNeeds what = needs({"good", "../x", "b"}, 4096);
  what.files[1].fault = "file name \"../x\": has a part \"..\", which is not allowed";
  DiskFacts disk = roomy();
  disk.largest_file = 1;
  disk.free_bytes = 1;
  const Caught caught = refused(what, disk);
  CHECK(caught == ErrorKind::io);  // the first one's kind
  CHECK(caught.says("4 things stand"));
  CHECK(caught.message.find("\"good\"") < caught.message.find("\"../x\""));
  CHECK(caught.message.find("\"../x\"") < caught.message.find("\"b\""));
  CHECK(caught.message.find("\"b\"") < caught.message.find("has room for"));
  what.files.erase(what.files.begin());
  CHECK(refused(what, disk) == ErrorKind::integrity);
}

TEST_CASE("A file where another path has a folder") {
  for (const auto& paths : {needs({"a", "a/b"}), needs({"a/b/c", "a/b"}), needs({"A", "a", "a/b"})}) {
    const Caught caught = refused(paths);
    CHECK(caught == ErrorKind::integrity);
    CHECK(caught.says("a folder where the other is a file"));
  }
  CHECK(warnings({"a", "ab/c", "a.d/e"}) == 0);
}

TEST_CASE("Names that differ in case only") {
  CHECK(warnings({"README.md", "readme.md"}) == 1);
  CHECK(warnings({"Dir/a", "dir/b"}) == 0);  // one folder for both does no harm
  CHECK(warnings({"Dir/a", "dir"}) == 1);
  CHECK(warnings({"caf\xc3\x89", "caf\xc3\xa9"}) == 1);
  CHECK(warnings({"\xd0\x9c\xd0\xb8\xd1\x80", "\xd0\xbc\xd0\xb8\xd1\x80"}) == 1);
  DiskFacts disk = roomy();
  disk.ignores_case = true;
  CHECK(refused(needs({"README.md", "readme.md"}), disk) == ErrorKind::io);
  CHECK(refused(needs({"Dir/a", "dir/b"}), disk).kind == std::nullopt);
}

TEST_CASE("Names that other systems do not take warn, and are refused where they must be portable") {
  for (const char* odd :
       {"a:b", "a*", "a?b", "a\"b", "a<b", "a|b", "con", "NUL.txt", "x/COM1", "lpt9.tar.gz", "a.", "a /b",
        "cafe\xcc\x81.txt", "\xe1\x84\x80\xe1\x85\xa1", "\xe3\x81\x8b\xe3\x82\x99"}) {
    CAPTURE(odd);
    CHECK(warnings({odd}) == 1);
    CHECK(portable(odd) == ErrorKind::integrity);
  }
  for (const char* plain : {"config.json", "com", "com0", "com10", "console", "nullable.txt", ".a", "a b",
                            "caf\xc3\xa9", "\xea\xb0\x80", "\xe3\x81\x8c", "x\xcc\x80"}) {
    CAPTURE(plain);
    CHECK(warnings({plain}) == 0);
    CHECK(portable(plain).kind == std::nullopt);
  }
}

TEST_CASE("The facts of a folder that is there, and of one that is not yet") {
  const TempDir dir;
  const DiskFacts facts = disk_facts(dir.path());
  CHECK(facts.folder == dir.path());
  REQUIRE(facts.free_bytes);
  CHECK(facts.longest_name >= 143);
  CHECK(facts.largest_file >= 4 * kGiB - 1);
  CHECK_FALSE(facts.ignores_case);
  CHECK(disk_facts(dir / "not/there/yet").folder == dir.path());
  CHECK(std::filesystem::equivalent(disk_facts("").folder, "."));
}

TEST_CASE("The process's own limit counts as the file system's") {
  const auto check = [] {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const DiskFacts facts = disk_facts("/tmp");
    return facts.largest_file == 1 << 20 && facts.largest_file_by.find("ulimit") != std::string::npos ? 0 : 1;
  };
  CHECK(in_child(check) == 0);
}
