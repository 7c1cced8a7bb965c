#include "cache/store/repo_folder.h"

#include "cache/loopback.h"
#include "support/error_of.h"

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

TEST_CASE("An existing cache tag is left as it is") {
  const TempDir dir;
  put(dir / "CACHEDIR.TAG", "mine");
  RepoFolder(Store(dir.path()), {"a/b"}).make();
  CHECK(read_text(dir / "CACHEDIR.TAG") == "mine");
}
