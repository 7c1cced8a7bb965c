#include "cache/mirror/local_folder.h"

#include "cache/loopback.h"
#include "cache/store/tree_file.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c');

struct Local {
  TempDir dir;
  Store store{dir / "cache"};
  std::vector<TreeFile> tree = {{"a.txt", 1, std::string(40, 'a'), "", ""},
                                {"sub/b.txt", 1, std::string(40, 'b'), "", ""}};

  Local() {
    put(dir / "D/a.txt", "a");
    put(dir / "D/sub/b.txt", "b");
    put(dir / "D/.cache/huggingface/trees" / (kCommit + ".json"), tree_json(tree));
    put(dir / "cache/models--a--b/refs/main", kCommit);
  }
  LocalFolder find(const std::string& revision = "main", const Selection& selection = {}) const {
    return find_local_folder(dir / "D", store, {"a/b"}, revision, selection);
  }
};

}  // namespace

TEST_CASE("Offline a folder with all the files of its list is certain") {
  const Local f;
  CHECK(f.find().path == fs::canonical(f.dir / "D"));
  CHECK(f.find().is_certain);
  CHECK(f.find(kCommit).is_certain);
}

TEST_CASE("Offline the files that the folder lacks are named") {
  const Local f;
  fs::remove(f.dir / "D/sub/b.txt");
  const auto caught = error_of([&] { f.find(); });
  CHECK(caught == ErrorKind::not_found);
  CHECK(caught.says("\"sub/b.txt\""));
  CHECK(caught.says((f.dir / "D").string()));
  CHECK(f.find("main", {.include = {"*a.txt"}}).is_certain);
  CHECK(error_of([&] { f.find("main", {.files = {"sub/b.txt"}}); }) == ErrorKind::not_found);
  CHECK(error_of([&] { f.find("main", {.files = {"no.txt"}}); }).says("no file \"no.txt\""));
}

TEST_CASE("Offline a folder without a list of that revision is taken as it is") {
  const Local f;
  for (const std::string& revision : {std::string("other"), std::string(40, 'e')}) {
    CHECK_FALSE(f.find(revision).is_certain);
    CHECK_FALSE(f.find(revision, {.files = {"a.txt"}}).is_certain);
    CHECK(error_of([&] { f.find(revision, {.files = {"c.txt"}}); }) == ErrorKind::not_found);
  }
  put(f.dir / "D/.cache/huggingface/trees" / (kCommit + ".json"), "{");
  CHECK_FALSE(f.find().is_certain);
}

TEST_CASE("Offline an empty folder, none, or a file is not what was asked for") {
  const Local f;
  fs::create_directory(f.dir / "empty");
  for (const char* name : {"empty", "none", "cache/models--a--b/refs/main"}) {
    const auto caught = error_of([&] { find_local_folder(f.dir / name, f.store, {"a/b"}, "main", {}); });
    CHECK(caught == ErrorKind::not_found);
    CHECK(caught.says((f.dir / name).string()));
  }
}
