#include "cache/store/repo_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>
#include <map>

#include "cache/loopback.h"
#include "support/as_nobody.h"
#include "support/error_of.h"
#include "support/skip.h"
#include "support/without_call.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c'), kEtag(64, 'b');

struct Folder {
  TempDir dir;
  Store store{dir.path()};
  RepoFolder folder{store, {"a/b"}};
  TreeFile file{"sub/m.bin", 3, std::string(40, 'a'), kEtag, ""};

  Folder() { folder.make(); }
  fs::path home() const { return dir / "models--a--b"; }
};

}  // namespace

TEST_CASE("A blob counts when it is a file of the right size") {
  Folder f;
  CHECK_FALSE(f.folder.has_blob(f.file));
  put(f.folder.blob(f.file), "abcd");
  CHECK_FALSE(f.folder.has_blob(f.file));
  put(f.folder.blob(f.file), "abc");
  CHECK(f.folder.has_blob(f.file));
  fs::remove(f.folder.blob(f.file));
  fs::create_directory(f.folder.blob(f.file));
  CHECK_FALSE(f.folder.has_blob(f.file));
}

TEST_CASE("A blob that is a link counts only as huggingface_hub makes them into the shared blobs") {
  Folder f;
  const std::string hash(64, 'e');
  const auto link_to = [&](const std::string& target) {
    fs::remove(f.folder.blob(f.file));
    fs::create_symlink(target, f.folder.blob(f.file));
    return f.folder.has_blob(f.file);
  };
  put(f.dir / "elsewhere", "abc");
  put(f.dir / "blobs/ee" / hash, "abc");
  put(f.dir / "blobs/ab" / hash, "abc");
  CHECK(link_to("../../blobs/ee/" + hash));
  CHECK_FALSE(link_to(f.dir / "elsewhere"));
  CHECK_FALSE(link_to("../../elsewhere"));
  CHECK_FALSE(link_to("../../blobs/ab/" + hash));  // not the folder of that hash
  CHECK_FALSE(link_to("../../blobs/ee/../ab/" + hash));
  put(f.dir / "blobs/ee" / hash, "abcd");
  CHECK_FALSE(link_to("../../blobs/ee/" + hash));
  fs::remove(f.dir / "blobs/ee" / hash);
  fs::create_symlink("../../elsewhere", f.dir / "blobs/ee" / hash);
  CHECK_FALSE(link_to("../../blobs/ee/" + hash));
}

TEST_CASE("A file of a snapshot may be a link or a copy") {
  Folder f;
  put(f.folder.blob(f.file), "abc");
  CHECK_FALSE(f.folder.has_file(kCommit, f.file));
  f.folder.link(kCommit, f.file);
  CHECK(f.folder.has_file(kCommit, f.file));
  fs::remove(f.folder.blob(f.file));
  CHECK_FALSE(f.folder.has_file(kCommit, f.file));
  fs::remove(f.folder.snapshot(kCommit) / f.file.path);
  put(f.folder.snapshot(kCommit) / f.file.path, "abc");
  CHECK(f.folder.has_file(kCommit, f.file));
}

TEST_CASE("Links are relative and made anew where they are wrong") {
  Folder f;
  const fs::path link = f.folder.snapshot(kCommit) / f.file.path;
  f.folder.link(kCommit, f.file);
  CHECK(fs::read_symlink(link) == "../../../blobs/" + kEtag);
  f.folder.link(kCommit, f.file);
  fs::remove(link);
  fs::create_symlink("/etc/passwd", link);
  f.folder.link(kCommit, f.file);
  CHECK(fs::read_symlink(link) == "../../../blobs/" + kEtag);
  CHECK(std::distance(fs::directory_iterator(link.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("A folder that stands where a file should is an error") {
  Folder f;
  fs::create_directories(f.folder.snapshot(kCommit) / f.file.path / "x");
  CHECK(error_of([&] { f.folder.link(kCommit, f.file); }) == ErrorKind::io);
}

TEST_CASE("Refs are 40 bytes and leave nothing beside them") {
  Folder f;
  f.folder.write_ref("main", kCommit);
  f.folder.write_ref("refs/pr/1", kCommit);
  CHECK(read_text(f.home() / "refs/main") == kCommit);
  CHECK(read_text(f.home() / "refs/refs/pr/1") == kCommit);
  const std::string other(40, 'd');
  f.folder.write_ref("main", other);
  CHECK(read_text(f.home() / "refs/main") == other);
  f.folder.write_ref(other, other);
  CHECK(std::distance(fs::directory_iterator(f.home() / "refs"), fs::directory_iterator()) == 2);
  for (const auto& entry : fs::directory_iterator(f.home()))
    CHECK_FALSE(entry.path().filename().string().starts_with("."));
}

TEST_CASE("A ref with a newline is written again without") {
  Folder f;
  put(f.home() / "refs/main", kCommit + "\n");
  f.folder.write_ref("main", kCommit);
  CHECK(read_text(f.home() / "refs/main") == kCommit);
}

TEST_CASE("The cache is tagged once it holds a file, and a tag that is there stays") {
  Folder f;
  CHECK_FALSE(fs::exists(f.dir / "CACHEDIR.TAG"));
  f.folder.link(kCommit, f.file);
  CHECK(read_text(f.dir / "CACHEDIR.TAG").starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
  put(f.dir / "CACHEDIR.TAG", "mine");
  RepoFolder(f.store, {"a/b"}).link(kCommit, f.file);
  CHECK(read_text(f.dir / "CACHEDIR.TAG") == "mine");
}

TEST_CASE("Two handles of one repository do not disturb each other") {
  Folder f;
  const RepoFolder other(f.store, {"a/b"});
  const fs::path link = f.folder.snapshot(kCommit) / f.file.path;
  for (int i = 0; i < 3; ++i) {
    put(link, "in the way");
    f.folder.link(kCommit, f.file);
    fs::remove(link);
    put(link, "in the way");
    other.link(kCommit, f.file);
    fs::remove(link);
  }
  f.folder.write_ref("main", kCommit);
  other.write_ref("main", std::string(40, 'd'));
}

namespace {

std::vector<const TreeFile*> pointers(const std::vector<TreeFile>& files) {
  std::vector<const TreeFile*> out;
  for (const TreeFile& file : files) out.push_back(&file);
  return out;
}

// The names below a folder that are files or links, with what they hold or where they lead.
std::map<std::string, std::string> entries(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink())
      out[name] = "-> " + fs::read_symlink(entry.path()).string();
    else if (entry.is_regular_file())
      out[name] = read_text(entry.path());
  }
  return out;
}

// One content under two paths.
struct Twice : Folder {
  std::vector<TreeFile> files = {{"a.bin", 3, std::string(40, 'a'), kEtag, ""},
                                 {"sub/deep/b.bin", 3, std::string(40, 'a'), kEtag, ""}};
  fs::path part() const { return folder.blobs() / (kEtag + ".01234567.part"); }

  void place(const RepoFolder& target) const {
    put(part(), "abc");
    target.place(kCommit, part(), pointers(files), kEtag);
  }
};

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

}  // namespace

TEST_CASE("A content is placed once with a link for each path") {
  Twice f;
  f.place(f.folder);
  CHECK(entries(f.home()) ==
        std::map<std::string, std::string>{
            {"blobs/" + kEtag, "abc"},
            {"snapshots/" + kCommit + "/a.bin", "-> ../../blobs/" + kEtag},
            {"snapshots/" + kCommit + "/sub/deep/b.bin", "-> ../../../../blobs/" + kEtag}});
  for (const TreeFile& file : f.files) CHECK(f.folder.has_file(kCommit, file));
  f.place(f.folder);  // again, as a forced download does
  CHECK(entries(f.home()).size() == 3);
  f.folder.sync_names();
}

TEST_CASE("Without links a content is moved to its first path and copied to the others") {
  Twice f;
  const RepoFolder folder(Store(f.dir.path(), Links::never), {"a/b"});
  f.place(folder);
  const std::map<std::string, std::string> expected = {{"snapshots/" + kCommit + "/a.bin", "abc"},
                                                       {"snapshots/" + kCommit + "/sub/deep/b.bin", "abc"}};
  CHECK(entries(f.home()) == expected);
  CHECK(fs::is_empty(folder.blobs()));
  for (const TreeFile& file : f.files) CHECK(folder.has_file(kCommit, file));
  CHECK_FALSE(folder.has_blob(f.files[0]));
}

TEST_CASE("A file system that has no links is found out") {
  for (const unsigned code : {EPERM, EOPNOTSUPP, ENOSYS}) {
    Twice f;
    CHECK(in_child([&] {
            if (!without_call(SYS_symlinkat, code)) return 1;
            f.place(RepoFolder(f.store, {"a/b"}));
            return 0;
          }) == 0);
    CHECK(entries(f.home()) ==
          std::map<std::string, std::string>{{"snapshots/" + kCommit + "/a.bin", "abc"},
                                             {"snapshots/" + kCommit + "/sub/deep/b.bin", "abc"}});
  }
}

TEST_CASE("Without links a blob that is there is copied") {
  Twice f;
  put(f.folder.blob(f.files[0]), "abc");
  const RepoFolder folder(Store(f.dir.path(), Links::never), {"a/b"});
  folder.link(kCommit, f.files[1]);
  CHECK(entries(f.home()) ==
        std::map<std::string, std::string>{{"blobs/" + kEtag, "abc"},
                                           {"snapshots/" + kCommit + "/sub/deep/b.bin", "abc"}});
}

TEST_CASE("Links and files side by side are both there") {
  Twice f;
  const RepoFolder without(Store(f.dir.path(), Links::never), {"a/b"});
  put(f.part(), "abc");
  const TreeFile* first = &f.files[0];
  without.place(kCommit, f.part(), {&first, 1}, kEtag);
  put(f.part(), "abc");
  const TreeFile* second = &f.files[1];
  f.folder.place(kCommit, f.part(), {&second, 1}, kEtag);
  for (const TreeFile& file : f.files) CHECK(f.folder.has_file(kCommit, file));
  put(f.folder.snapshot(kCommit) / "a.bin", "longer");
  CHECK_FALSE(f.folder.has_file(kCommit, f.files[0]));
}

TEST_CASE("A shared blob that is placed anew is replaced and its content left alone") {
  Twice f;
  const fs::path shared = f.dir / "blobs/ee" / std::string(64, 'e');
  put(shared, "old");
  fs::create_symlink("../../blobs/ee/" + std::string(64, 'e'), f.folder.blob(f.files[0]));
  f.place(f.folder);
  CHECK(read_text(shared) == "old");
  CHECK_FALSE(fs::is_symlink(f.folder.blob(f.files[0])));
  CHECK(read_text(f.folder.blob(f.files[0])) == "abc");
}

TEST_CASE("Blobs and folders have the mode of the umask and keep the group's bit") {
  for (const mode_t mask : {022, 002, 077}) {
    Twice f;
    fs::remove_all(f.home());
    fs::remove(f.dir / "CACHEDIR.TAG");
    REQUIRE(chmod(f.dir.path().c_str(), 02775) == 0);
    CHECK(in_child([&] {
            umask(mask);
            const RepoFolder folder(f.store, {"a/b"});
            folder.make();
            f.place(folder);
            folder.write_tree(kCommit, f.files);
            folder.write_ref("refs/pr/1", kCommit);
            return folder.mark_absent(kCommit, "x/y") ? 0 : 1;
          }) == 0);
    CAPTURE(mask);
    CHECK(mode_of(f.dir / "CACHEDIR.TAG") == (0666 & ~mask));
    for (const auto& entry : fs::recursive_directory_iterator(f.home())) {
      CAPTURE(entry.path().string());
      if (entry.is_symlink()) continue;
      CHECK(mode_of(entry.path()) == ((entry.is_directory() ? 02777 : 0666) & ~mask));
    }
  }
}

TEST_CASE("A file that the Hub does not have is marked, and nothing else") {
  Folder f;
  CHECK_FALSE(f.folder.is_marked_absent(kCommit, "sub/added_tokens.json"));
  CHECK(f.folder.mark_absent(kCommit, "sub/added_tokens.json"));
  CHECK(f.folder.mark_absent(kCommit, "sub/added_tokens.json"));
  CHECK(f.folder.is_marked_absent(kCommit, "sub/added_tokens.json"));
  CHECK(entries(f.home()) ==
        std::map<std::string, std::string>{{".no_exist/" + kCommit + "/sub/added_tokens.json", ""}});
  CHECK_FALSE(f.folder.mark_absent(kCommit, "../../escape"));
  CHECK_FALSE(f.folder.mark_absent(kCommit, "sub/added_tokens.json/below"));
}

TEST_CASE("A tree is written for all to read and read back") {
  Twice f;
  CHECK_FALSE(f.folder.read_tree(kCommit));
  f.folder.write_tree(kCommit, f.files);
  const auto tree = f.folder.read_tree(kCommit);
  REQUIRE(tree);
  CHECK(tree->size() == 2);
  CHECK(entries(f.home()).size() == 1);
  put(f.home() / "trees" / (kCommit + ".json"), "{");
  CHECK(error_of([&] { f.folder.read_tree(kCommit); }) == ErrorKind::integrity);
}

TEST_CASE("The sha256 of a git file is recorded beside the locks, and of an LFS file known anyhow") {
  Folder f;
  const TreeFile git{"t.txt", 3, std::string(40, 'a'), "", ""};
  put(f.folder.blobs() / "x.part", "abc");
  const TreeFile* link = &git;
  f.folder.place(kCommit, f.folder.blobs() / "x.part", {&link, 1}, kEtag);
  CHECK(f.folder.recorded_sha256(git) == kEtag);
  CHECK(RepoFolder(f.store, {"a/b"}).recorded_sha256(git) == kEtag);
  CHECK(read_text(f.dir / ".locks/models--a--b/sha256") == git.git_oid + " " + kEtag + "\n");
  CHECK(f.folder.recorded_sha256(f.file) == kEtag);
}

TEST_CASE("What killed processes left half written goes an hour later") {
  Folder f;
  const auto age = [&](const std::string& name, int seconds) {
    const timespec time = {std::time(nullptr) - seconds, 0};
    const timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, (f.home() / name).c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
  };
  for (const char* name : {".hf-1-0", ".ref-7", ".hf-new", "mine"}) put(f.home() / name, "x");
  fs::create_symlink("nowhere", f.home() / ".hf-2-0");
  for (const char* name : {".hf-1-0", ".ref-7", ".hf-2-0", "mine"}) age(name, 3700);
  f.folder.make();
  CHECK(entries(f.home()) == std::map<std::string, std::string>{{".hf-new", "x"}, {"mine", "x"}});
}

TEST_CASE("A ref that is already right is not written") {
  Folder f;
  CHECK_FALSE(f.folder.has_ref("main", kCommit));
  f.folder.write_ref("main", kCommit);
  CHECK(f.folder.has_ref("main", kCommit));
  CHECK(f.folder.has_ref(kCommit, kCommit));
  const auto before = fs::last_write_time(f.home() / "refs");
  f.folder.write_ref("main", kCommit);
  CHECK(fs::last_write_time(f.home() / "refs") == before);
}

TEST_CASE("Refs below and above each other are an error that names one") {
  Folder f;
  f.folder.write_ref("a", kCommit);
  const auto caught = error_of([&] { f.folder.write_ref("a/b", kCommit); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says("refs/a"));
}

TEST_CASE("In a folder that everybody may write to a stranger's link is none") {
  if (!can_be_nobody()) skip("only root can give a link to somebody else");
  Folder f;
  put(f.dir / "blobs/ee" / std::string(64, 'e'), "abc");
  fs::create_symlink("../../blobs/ee/" + std::string(64, 'e'), f.folder.blob(f.file));
  REQUIRE(lchown(f.folder.blob(f.file).c_str(), kNobody, kNobody) == 0);
  CHECK(f.folder.has_blob(f.file));  // only its owner and root could have made it
  REQUIRE(chmod(f.folder.blobs().c_str(), 01777) == 0);
  CHECK_FALSE(f.folder.has_blob(f.file));
  REQUIRE(lchown(f.folder.blob(f.file).c_str(), 0, 0) == 0);
  CHECK(f.folder.has_blob(f.file));
}

TEST_CASE("A folder of a snapshot that is a link leads nowhere") {
  Folder f;
  put(f.folder.blob(f.file), "abc");
  put(f.dir / "elsewhere/m.bin", "abc");
  fs::create_directories(f.folder.snapshot(kCommit));
  fs::create_directory_symlink("../../../elsewhere", f.folder.snapshot(kCommit) / "sub");
  CHECK_FALSE(f.folder.has_file(kCommit, f.file));
  CHECK(error_of([&] { f.folder.link(kCommit, f.file); }) == ErrorKind::integrity);
  CHECK(entries(f.dir / "elsewhere") == std::map<std::string, std::string>{{"m.bin", "abc"}});
}

TEST_CASE("Another user reads what is there and is told the folder that is closed") {
  Twice f;
  f.place(f.folder);
  f.folder.write_tree(kCommit, f.files);
  f.folder.write_ref("main", kCommit);
  fs::permissions(f.dir.path(), fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(f.dir.path()))
    if (entry.is_directory() && !entry.is_symlink()) fs::permissions(entry.path(), fs::perms(0555));
  CHECK(as_nobody([&] {
          const RepoFolder folder(f.store, {"a/b"});
          if (!folder.has_file(kCommit, f.files[1]) || !folder.read_tree(kCommit)) return 1;
          folder.write_ref("main", kCommit);  // says so already
          const auto is_told = [&](const Caught& caught, const fs::path& what) {
            return caught == ErrorKind::io && caught.says(what.string());
          };
          if (!is_told(error_of([&] { folder.write_ref("new", kCommit); }), f.home())) return 2;
          const TreeFile other{"other/b.bin", 3, std::string(40, 'a'), kEtag, ""};
          if (!is_told(error_of([&] { folder.link(kCommit, other); }), folder.snapshot(kCommit))) return 3;
          return folder.mark_absent(kCommit, "x") ? 4 : 0;
        }) == 0);
  for (const auto& entry : fs::recursive_directory_iterator(f.dir.path()))
    if (entry.is_directory() && !entry.is_symlink()) fs::permissions(entry.path(), fs::perms(0755));
}

TEST_CASE("Of many revisions only a few folders stay open") {
  Folder f;
  for (int i = 0; i < 300; ++i) {
    std::string commit = std::to_string(i);
    commit.insert(0, 40 - commit.size(), '0');
    for (int folder = 0; folder < 5; ++folder) {
      const TreeFile file{std::to_string(folder) + "/m", 3, std::string(40, 'a'), kEtag, ""};
      f.folder.link(commit, file);
      CHECK_FALSE(f.folder.has_file(commit, file));
    }
  }
  CHECK(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()) < 200);
}

TEST_CASE("Where the locks are closed to us it goes without") {
  Folder f;
  fs::remove_all(f.dir / ".locks");
  put(f.dir / ".locks", "no folder");
  f.folder.make();
  const auto lock = f.folder.try_lock(f.file);
  REQUIRE(lock);
  CHECK_FALSE(lock->is_held());
  CHECK_FALSE(f.folder.lock(f.file).is_held());
  f.folder.record_sha256({"t", 3, std::string(40, 'a'), "", ""}, kEtag);
}
