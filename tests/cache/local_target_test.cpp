#include "cache/mirror/local_target.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>
#include <map>

#include "cache/loopback.h"
#include "support/as_nobody.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c'), kOther(40, 'd');

std::string hash(HashKind kind, std::string_view text) {
  Hasher hasher(kind, text.size());
  hasher.update(std::as_bytes(std::span(text)));
  return hasher.hex();
}

TreeFile git_file(const std::string& path, std::string_view text) {
  return {path, text.size(), hash(HashKind::git_sha1, text), "", ""};
}

TreeFile lfs_file(const std::string& path, std::string_view text) {
  return {path, text.size(), std::string(40, 'a'), hash(HashKind::sha256, text), ""};
}

struct Local {
  TempDir dir;
  Store store{dir / "cache"};
  RepoFolder cache{store, {"a/b"}};
  std::vector<TreeFile> tree = {git_file("config.json", "{}"), lfs_file("sub/m.bin", "weights")};
  LocalTarget target{dir / "D", cache, kCommit, tree};
  const TreeFile& config = tree[0];
  const TreeFile& model = tree[1];

  fs::path folder() const { return dir / "D"; }
  fs::path notes() const { return dir / "D/.cache/huggingface"; }
  fs::path note(const std::string& path) const { return notes() / "download" / (path + ".metadata"); }
  LocalTarget at(const std::string& commit) const { return {folder(), cache, commit, tree}; }

  void place(const TreeFile& file, const std::string& text) {
    target.prepare();
    const fs::path part = target.parts() / (file.etag() + ".01234567.part");
    put(part, text);
    const TreeFile* link = &file;
    target.place(part, {&link, 1}, "");
  }
  void change(const TreeFile& file, const std::string& text, int seconds) const {
    put(folder() / file.path, text);
    const timespec time = {std::time(nullptr) + seconds, 0};
    const timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, (folder() / file.path).c_str(), times, 0) == 0);
  }
};

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory())
      out[entry.path().lexically_relative(folder).string()] = read_text(entry.path());
  return out;
}

}  // namespace

TEST_CASE("A folder of the user's holds the files, and beside them what huggingface_hub notes") {
  Local f;
  CHECK(f.target.state_of(f.config) == FileState::missing);
  f.place(f.config, "{}");
  f.place(f.model, "weights");
  CHECK_FALSE(f.target.is_finished("main"));
  CHECK(f.target.finish("main") == fs::canonical(f.folder()));
  CHECK(f.target.is_finished("main"));

  auto files = files_in(f.folder());
  const std::string notes = ".cache/huggingface/";
  CHECK(files[notes + "CACHEDIR.TAG"].size() == 191);
  CHECK(files[notes + ".gitignore"] == "*");
  CHECK(files[notes + "download/config.json.lock"].empty());
  CHECK(
      files[notes + "download/config.json.metadata"].starts_with(kCommit + "\n" + f.config.git_oid + "\n1"));
  CHECK(files[notes + "download/sub/m.bin.metadata"].starts_with(kCommit + "\n" + f.model.sha256 + "\n1"));
  CHECK(files[notes + "trees/" + kCommit + ".json"].size() > 100);
  CHECK(files["config.json"] == "{}");
  CHECK(files["sub/m.bin"] == "weights");
  CHECK(files.size() == 9);
  CHECK(files_in(f.dir / "cache") == std::map<std::string, std::string>{{"models--a--b/refs/main", kCommit}});
  for (const TreeFile& file : f.tree) CHECK(f.target.state_of(file) == FileState::present);
}

TEST_CASE("Of files that were asked for by name neither list nor ref is written") {
  Local f;
  LocalTarget target(f.folder(), f.cache, kCommit, std::nullopt);
  target.prepare();
  CHECK(target.is_finished("main"));
  target.finish("main");
  CHECK_FALSE(fs::exists(f.notes() / "trees"));
  CHECK_FALSE(fs::exists(f.dir / "cache"));
}

TEST_CASE("One content under two paths becomes two files") {
  Local f;
  f.target.prepare();
  const std::vector<TreeFile> files = {lfs_file("a.bin", "x"), lfs_file("b/c.bin", "x")};
  const std::vector<const TreeFile*> links = {&files[0], &files[1]};
  put(f.target.parts() / "x.part", "x");
  f.target.place(f.target.parts() / "x.part", links, "");
  for (const TreeFile& file : files) {
    CHECK(read_text(f.folder() / file.path) == "x");
    CHECK(f.target.state_of(file) == FileState::present);
  }
  CHECK(std::distance(fs::directory_iterator(f.target.parts()), fs::directory_iterator()) == 3);
}

TEST_CASE("A file that its note vouches for is only noted again for another commit") {
  Local f;
  f.place(f.config, "{}");
  LocalTarget other = f.at(kOther);
  CHECK(other.state_of(f.config) == FileState::in_blobs);
  other.link(f.config);
  CHECK(other.state_of(f.config) == FileState::present);
  CHECK(read_text(f.note("config.json")).starts_with(kOther));
}

TEST_CASE("A file without a note is there when it has the hash, sha256 or git's") {
  Local f;
  for (const TreeFile& file : f.tree)
    put(f.folder() / file.path, file.path == "config.json" ? "{}" : "weights");
  for (const TreeFile& file : f.tree) {
    CHECK(f.target.state_of(file) == FileState::in_blobs);
    f.target.link(file);
    CHECK(f.target.state_of(file) == FileState::present);
  }
  const auto inode = [&] {
    struct stat info {};
    REQUIRE(stat((f.folder() / "config.json").c_str(), &info) == 0);
    return info.st_ino;
  };
  const auto before = inode();
  fs::remove(f.note("config.json"));
  CHECK(f.target.state_of(f.config) == FileState::in_blobs);
  f.target.link(f.config);
  CHECK(inode() == before);
}

TEST_CASE("What one target found right another one notes") {
  Local f;
  put(f.folder() / "sub/m.bin", "weights");
  CHECK(f.target.state_of(f.model) == FileState::in_blobs);
  LocalTarget other = f.at(kCommit);
  other.link(f.model);
  CHECK(other.state_of(f.model) == FileState::present);
  LocalTarget third = f.at(kCommit);
  const auto before = fs::last_write_time(f.note("sub/m.bin"));
  third.link(f.model);
  CHECK(fs::last_write_time(f.note("sub/m.bin")) == before);
}

TEST_CASE("A note that is damaged is as good as none") {
  Local f;
  f.place(f.config, "{}");
  put(f.note("config.json"), "garbage");
  CHECK(f.target.state_of(f.config) == FileState::in_blobs);
  f.change(f.config, "[]", 0);
  CHECK(f.target.state_of(f.config) == FileState::missing);
}

TEST_CASE("A file that the user changed is replaced") {
  Local f;
  f.place(f.config, "{}");
  f.change(f.config, "[]", 10);
  CHECK(f.target.state_of(f.config) == FileState::missing);
  f.change(f.config, "{ }", -10);  // before the note, but of another size
  CHECK(f.target.state_of(f.config) == FileState::missing);
  f.place(f.config, "{}");
  CHECK(read_text(f.folder() / "config.json") == "{}");
  CHECK(f.target.state_of(f.config) == FileState::present);
}

TEST_CASE("A file that was only touched is hashed and noted again") {
  Local f;
  f.place(f.model, "weights");
  f.change(f.model, "weights", 10);
  CHECK(f.target.state_of(f.model) == FileState::in_blobs);
  f.target.link(f.model);
  CHECK(f.target.state_of(f.model) == FileState::present);  // though its time is ahead of the clock
}

TEST_CASE("A file that changes after it was looked at is not noted as right") {
  Local f;
  f.target.prepare();
  put(f.folder() / "config.json", "{}");
  CHECK(f.target.state_of(f.config) == FileState::in_blobs);
  f.change(f.config, "[]", 5);
  CHECK(error_of([&] { f.target.link(f.config); }) == ErrorKind::io);  // and the cache does not have it
  CHECK_FALSE(fs::exists(f.note("config.json")));
}

TEST_CASE("Content that the cache holds is copied from it") {
  Local f;
  f.cache.make();
  put(f.cache.blob(f.config), "{}");
  f.target.prepare();
  CHECK(f.target.state_of(f.config) == FileState::in_blobs);
  f.target.link(f.config);
  CHECK(f.target.state_of(f.config) == FileState::present);
  CHECK_FALSE(fs::is_symlink(f.folder() / "config.json"));
  CHECK(read_text(f.cache.blob(f.config)) == "{}");
  put(f.cache.snapshot(kCommit) / "sub/m.bin", "weights");  // of a cache without links
  CHECK(f.target.state_of(f.model) == FileState::in_blobs);
  f.target.link(f.model);
  CHECK(read_text(f.folder() / "sub/m.bin") == "weights");
}

TEST_CASE("A link in the place of a file becomes a file, and what it led to stays") {
  Local f;
  put(f.dir / "outside", "{}");
  f.target.prepare();
  fs::create_symlink(f.dir / "outside", f.folder() / "config.json");
  CHECK(f.target.state_of(f.config) == FileState::missing);
  f.place(f.config, "{}");
  CHECK_FALSE(fs::is_symlink(f.folder() / "config.json"));
  CHECK(read_text(f.dir / "outside") == "{}");
}

TEST_CASE("A folder that leads out is refused, one that leads elsewhere inside is not") {
  Local f;
  f.target.prepare();
  fs::create_directory(f.dir / "outside");
  fs::create_directory_symlink("../outside", f.folder() / "sub");
  CHECK(f.target.state_of(f.model) == FileState::missing);
  CHECK(error_of([&] { f.place(f.model, "weights"); }) == ErrorKind::integrity);
  CHECK(fs::is_empty(f.dir / "outside"));
  fs::remove(f.folder() / "sub");
  fs::create_directory(f.folder() / "other");
  fs::create_directory_symlink("other", f.folder() / "sub");
  LocalTarget(f.folder(), f.cache, kCommit, f.tree)
      .place(f.target.parts() / (f.model.etag() + ".01234567.part"), std::vector<const TreeFile*>{&f.model},
             "");
  CHECK(read_text(f.folder() / "other/m.bin") == "weights");
}

TEST_CASE("A repository cannot write among the notes") {
  Local f;
  f.target.prepare();
  for (const char* path : {".cache/huggingface/download/config.json.metadata", ".cache/huggingface"}) {
    const TreeFile file = git_file(path, "{}");
    CHECK(error_of([&] { f.target.state_of(file); }) == ErrorKind::integrity);
    CHECK(error_of([&] { f.target.try_lock(file); }) == ErrorKind::integrity);
    CHECK(error_of([&] { f.place(file, "{}"); }) == ErrorKind::integrity);
  }
  CHECK_FALSE(fs::exists(f.note("config.json")));
  CHECK(f.target.state_of(git_file(".cache/huggingface.txt", "{}")) == FileState::missing);
}

TEST_CASE("A name that is too long for a note has one of another name") {
  Local f;
  const TreeFile file = git_file("sub/" + std::string(255, 'n'), "{}");
  CHECK(f.target.try_lock(file));
  f.place(file, "{}");
  CHECK(read_text(f.folder() / file.path) == "{}");
  CHECK(f.target.state_of(file) == FileState::present);
}

TEST_CASE("The lock of a file is huggingface_hub's") {
  Local f;
  const auto lock = f.target.try_lock(f.model);
  REQUIRE(lock);
  CHECK_FALSE(f.target.try_lock(f.model));
  CHECK(f.target.try_lock(f.config));
  CHECK_FALSE(FileLock::attempt(f.notes() / "download/sub/m.bin.lock"));
  f.place(f.model, "weights");  // by who has it
}

TEST_CASE("Files of the user's folder have the mode of the umask") {
  for (const mode_t mask : {022, 002, 077}) {
    Local f;
    CHECK(in_child([&] {
            umask(mask);
            f.place(f.model, "weights");
            f.cache.make();
            put(f.cache.blob(f.config), "{}");
            f.target.link(f.config);
            f.target.finish("main");
            return 0;
          }) == 0);
    for (const auto& entry : fs::recursive_directory_iterator(f.folder())) {
      CAPTURE(entry.path().string());
      struct stat info {};
      REQUIRE(lstat(entry.path().c_str(), &info) == 0);
      const bool is_lock = entry.path().extension() == ".lock";
      const mode_t whole = entry.is_directory() ? 0777 : 0666;
      CHECK((info.st_mode & 07777) == (is_lock ? 0664 : whole & ~mask));
    }
  }
}

TEST_CASE("The folder is complete also where the cache is closed to us") {
  Local f;
  fs::create_directory(f.dir / "cache");
  fs::permissions(f.dir / "cache", fs::perms(0555));
  fs::permissions(f.dir.path(), fs::perms(0777));
  CHECK(as_nobody([&] {
          f.place(f.config, "{}");
          f.target.finish("main");
          return 0;
        }) == 0);
  CHECK(fs::exists(f.notes() / "trees" / (kCommit + ".json")));
  CHECK(fs::is_empty(f.dir / "cache"));
  fs::permissions(f.dir / "cache", fs::perms(0755));
}

TEST_CASE("A file in the place of the folder is an error that names it") {
  Local f;
  put(f.folder(), "mine");
  const auto caught = error_of([&] { f.target.prepare(); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says(f.folder().string()));
  CHECK(read_text(f.folder()) == "mine");
}

TEST_CASE("What killed processes left half written in the folder goes an hour later") {
  Local f;
  f.target.prepare();
  put(f.target.parts() / ".hf-1-0", "x");
  put(f.target.parts() / ".hf-2-0", "x");
  const timespec time = {std::time(nullptr) - 3700, 0};
  const timespec times[2] = {time, time};
  REQUIRE(utimensat(AT_FDCWD, (f.target.parts() / ".hf-1-0").c_str(), times, 0) == 0);
  f.target.prepare();
  CHECK_FALSE(fs::exists(f.target.parts() / ".hf-1-0"));
  CHECK(fs::exists(f.target.parts() / ".hf-2-0"));
}
