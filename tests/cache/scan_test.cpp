#include "cache/store/scan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cache/cache_by_hand.h"
#include "cache/loopback.h"
#include "support/as_nobody.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using namespace std::chrono_literals;

namespace {

std::string lines(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}

CachedRepo only(const CacheByHand& cache) {
  const CacheContents found = contents_of(cache.store());
  REQUIRE(found.repos.size() == 1);
  return found.repos[0];
}

std::size_t count(const CachedRepo& repo, Remnant::Kind kind) {
  return static_cast<std::size_t>(std::count_if(repo.remnants.begin(), repo.remnants.end(),
                                                [&](const Remnant& each) { return each.kind == kind; }));
}

}  // namespace

TEST_CASE("A cache that does not exist holds nothing") { CHECK(scan(Store("/no/such/folder")).empty()); }

TEST_CASE("A file is no cache") {
  const TempDir dir;
  put(dir / "file", "x");
  const Caught caught = error_of([&] { contents_of(Store(dir / "file")); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says("is no folder"));
}

TEST_CASE("Revisions share what they have in common") {
  Loopback loopback;
  put(loopback.root() / "acme/tiny@v2/model.safetensors",
      read_text(loopback.root() / "acme/tiny/model.safetensors"));
  put(loopback.root() / "acme/tiny@v2/more", "more");
  loopback.download();
  auto request = loopback.request();
  request.revision = "v2";
  loopback.download(request);
  const auto repos = scan(loopback.store());
  REQUIRE(repos.size() == 1);
  CHECK(repos[0].repo == Repo{Loopback::kRepo});
  CHECK(lines(repos[0].problems).empty());
  CHECK(repos[0].remnants.empty());
  CHECK(repos[0].partial_bytes == 0);
  CHECK(repos[0].files == 5);
  REQUIRE(repos[0].revisions.size() == 2);
  for (const CachedRevision& revision : repos[0].revisions) {
    const bool is_main = revision.refs == std::vector<std::string>{"main"};
    CHECK((is_main || revision.refs == std::vector<std::string>{"v2"}));
    CHECK(revision.files == (is_main ? 4 : 2));
    CHECK(revision.bytes > 320 << 10);
  }
  CHECK(repos[0].bytes < repos[0].revisions[0].bytes + repos[0].revisions[1].bytes);
}

TEST_CASE("A damaged entry is told and hides nothing") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  fs::remove(fs::canonical(snapshot / "config.json"));
  put(loopback.repo_folder() / "refs/old", std::string(40, 'd'));
  put(loopback.repo_folder() / "refs/odd", "no commit");
  put(loopback.repo_folder() / "refs/edited", snapshot.filename().string() + "\n");
  put(loopback.repo_folder() / "snapshots/stray", "x");
  put(loopback.repo_folder() / "blobs/notes.txt", "x");
  put(loopback.repo_folder() / "blobs" / (std::string(64, 'e') + ".12345678.incomplete"), "12345");
  const auto repos = scan(loopback.store());
  REQUIRE(repos.size() == 1);
  REQUIRE(repos[0].revisions.size() == 1);
  CHECK(repos[0].revisions[0].files == 4);
  CHECK(repos[0].revisions[0].refs == std::vector<std::string>{"edited", "main"});
  CHECK(repos[0].partial_bytes == 5);
  const std::string problems = lines(repos[0].problems);
  CAPTURE(problems);
  for (const char* part :
       {"\"config.json\" leads nowhere", "\"old\" stands for dddddddddddd", "\"odd\" holds no commit",
        "\"edited\" ends in a line end", "snapshots/stray is no revision", "blobs/notes.txt is no blob"})
    CHECK(problems.find(part) != std::string::npos);
  CHECK(repos[0].problems.size() == 6);
}

TEST_CASE("What stands beside the repositories") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "{}");
  const std::string hash(64, '1');
  for (const char* known : {"CACHEDIR.TAG", "version.txt", "version_diffusers_cache.txt", ".DS_Store",
                            ".locks/models--acme--tiny/x.lock"})
    cache.write(cache.root() / known, "1");
  CHECK(contents_of(cache.store()).problems.empty());
  for (const std::string& flat :
       {hash + "." + hash, hash + "." + hash + ".json", hash + "." + hash + ".h5", hash})
    cache.write(cache.root() / flat, "x");
  cache.write(cache.root() / "acme___rows/default/data.arrow", "x");
  cache.write(cache.root() / "models--not--a--repo/x", "x");
  cache.write(cache.root() / "models--acme--file", "x");
  cache.write(cache.root() / "blobs/aa/strange", "x");  // without the marker
  const CacheContents found = contents_of(cache.store());
  CHECK(found.repos.size() == 1);
  CHECK(lines(found.problems) ==
        "blobs is no repository and nothing else of a cache\n"
        "models--acme--file is no repository and nothing else of a cache\n"
        "models--not--a--repo is no repository and nothing else of a cache\n"
        "4 files of the flat cache of transformers before 4.22: hfcache adopt takes them over\n"
        "1 folders of the datasets library, which keeps its own cache\n");
}

TEST_CASE("Repositories are sorted by type and name") {
  const TempDir dir;
  for (const char* folder :
       {"kernels--a--k", "spaces--a--a", "datasets--a--b", "models--z--z", "models--a--b", "models--gpt2"})
    fs::create_directories(dir / folder / "snapshots");
  std::vector<std::string> ids;
  for (const CachedRepo& repo : scan(Store(dir.path()))) ids.push_back(repo.repo.id);
  CHECK(ids == std::vector<std::string>{"a/b", "gpt2", "z/z", "a/b", "a/a", "a/k"});
}

TEST_CASE("Sizes are those of unique contents, as huggingface_hub adds them up") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "one", "11111");
  cache.add("tiny", 'a', "sub/dir/same", "11111");
  cache.add("tiny", 'a', "two", "22");
  cache.add("tiny", 'b', "one", "11111");
  cache.write(cache.folder("tiny") / "snapshots" / CacheByHand::commit('b') / "copied", "333");  // no link
  cache.write(cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan"), "orphan");
  cache.ref("tiny", "main", 'b');
  cache.ref("tiny", "refs/pr/1", 'b');
  const CachedRepo repo = only(cache);
  CHECK(repo.bytes == 5 + 2 + 3);
  CHECK(repo.files == 3);
  CHECK(repo.unreferenced_bytes == 6);
  REQUIRE(repo.revisions.size() == 2);
  CHECK(repo.revisions[0].bytes == 7);
  CHECK(repo.revisions[0].files == 3);
  CHECK(repo.revisions[0].refs.empty());
  CHECK(repo.revisions[1].bytes == 8);
  CHECK(repo.revisions[1].refs == std::vector<std::string>{"main", "refs/pr/1"});
  CHECK(repo.problems.empty());
  CHECK(contents_of(cache.store()).bytes == 5 + 2 + 3 + 6);
}

TEST_CASE("Last used and modified are the newest of the contents") {
  const CacheByHand cache;
  const auto ago = [](std::chrono::seconds age) {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) - age;
  };
  CacheByHand::age(cache.add("tiny", 'a', "one", "1"), 50h, 70h);
  CacheByHand::age(cache.add("tiny", 'a', "two", "2"), 30h, 90h);
  CacheByHand::age(cache.add("tiny", 'b', "three", "3"), 400h, 500h);
  const CachedRepo repo = only(cache);
  const auto is_near = [](FileTime time, FileTime expected) {
    return std::chrono::abs(time - expected) < 2min;
  };
  CHECK(is_near(repo.last_used, ago(30h)));
  CHECK(is_near(repo.last_modified, ago(70h)));
  CHECK(is_near(repo.revisions[0].last_used, ago(30h)));
  CHECK(is_near(repo.revisions[1].last_used, ago(400h)));
  CHECK(is_near(repo.revisions[1].last_modified, ago(500h)));
  CHECK(is_near(repo.revisions[0].touched, ago(0h)));
  // And the scan is no use: the same again.
  CHECK(only(cache).last_used == repo.last_used);
}

TEST_CASE("A shared content counts for each repository and once for the cache") {
  const CacheByHand cache;
  const std::string content(1000, 'x');
  cache.share("one", 'a', "model.bin", content, 'c');
  cache.share("two", 'b', "model.bin", content, 'c');
  cache.write(cache.root() / "blobs/dd" / std::string(64, 'd'), "unused");
  const CacheContents found = contents_of(cache.store());
  REQUIRE(found.repos.size() == 2);
  for (const CachedRepo& repo : found.repos) {
    CHECK(repo.bytes == 1000);
    CHECK(repo.problems.empty());
    REQUIRE(repo.contents.size() == 1);
    CHECK(repo.contents[0].shared == std::string(64, 'c'));
  }
  CHECK(found.problems.empty());
  REQUIRE(found.shared.size() == 2);
  CHECK(found.shared[0].name == std::string(64, 'c'));
  CHECK(found.bytes == 1000 + 6);
}

TEST_CASE("Links that are not written as usual") {
  const CacheByHand cache;
  const fs::path blob = cache.add("tiny", 'a', "plain", "content");
  const fs::path snapshot = cache.folder("tiny") / "snapshots" / CacheByHand::commit('a');
  fs::create_symlink(blob, snapshot / "absolute");
  fs::create_symlink("./../.././blobs/" + blob.filename().string(), snapshot / "winding");
  CHECK(only(cache).problems.empty());
  CHECK(only(cache).files == 1);
  CHECK(only(cache).revisions[0].files == 3);
  cache.write(cache.root().parent_path() / "outside", "123");
  fs::create_symlink(cache.root().parent_path() / "outside", snapshot / "out");
  fs::create_symlink("plain", snapshot / "within");
  fs::create_directory_symlink(cache.root(), snapshot / "folder");
  CachedRepo repo = only(cache);
  CHECK(repo.bytes == 7 + 3 + 7);  // "within" is a path of its own, as to huggingface_hub
  CHECK(lines(repo.problems) ==
        "revision aaaaaaaaaaaa: \"folder\" is a link to a folder\n"
        "revision aaaaaaaaaaaa: \"out\" leads out of the repository\n");
  CHECK_FALSE(repo.links_are_known);  // what is in that folder may be links to our blobs
}

TEST_CASE("Repositories on another disk are followed") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "{}");
  const fs::path elsewhere = cache.root().parent_path() / "disk";
  fs::rename(cache.folder("tiny"), elsewhere);
  fs::create_directory_symlink(elsewhere, cache.folder("tiny"));
  CHECK(only(cache).bytes == 2);
  CHECK(only(cache).links_are_known);
}

TEST_CASE("What killed programs left is known by its names") {
  const CacheByHand cache;
  const std::string blob = cache.add("tiny", 'a', "config.json", "{}").filename().string();
  const fs::path home = cache.folder("tiny");
  const std::string gone = CacheByHand::commit('9');
  for (const std::string& name : std::vector<std::string>{
           "blobs/" + blob + ".0123456789abcdef01234567.hfpart",
           "blobs/" + blob + ".0123456789abcdef01234567.hfpart.journal", "blobs/" + blob + ".01234567.part",
           "blobs/" + blob + ".incomplete", "blobs/" + blob + ".01234567.incomplete",
           "blobs/tmp_1b4e28ba-2fa1-11d2", "trees/." + gone + ".json.12.0.tmp", "trees/tmpab12cd34.tmp",
           "trees/" + gone + ".json", "trees/" + CacheByHand::commit('a') + ".json", ".ref-1234",
           ".hf-removed-12-" + gone + "/config.json", "refs/main.0123abcd.tmp", "tmp_1b4e28ba-2fa1-11d2"})
    cache.write(home / name, "123");
  fs::create_directories(home / "refs/refs/pr");
  fs::create_directories(home / ".no_exist" / gone);
  fs::create_directories(home / ".no_exist" / CacheByHand::commit('a'));
  fs::create_symlink("../../blobs/" + blob,
                     home / "snapshots" / CacheByHand::commit('a') / (".hf-12-" + blob));
  fs::create_symlink("../../blobs/cc/x", home / "blobs/.x.0123abcd.shared");
  const CachedRepo repo = only(cache);
  CAPTURE(lines(repo.problems));
  CHECK(count(repo, Remnant::Kind::partial) == 3);
  CHECK(count(repo, Remnant::Kind::incomplete) == 2);
  CHECK(count(repo, Remnant::Kind::temporary) == 8);
  CHECK(count(repo, Remnant::Kind::removed) == 1);
  CHECK(count(repo, Remnant::Kind::list) == 2);
  CHECK(count(repo, Remnant::Kind::empty_folder) == 1);
  CHECK(repo.revisions[0].files == 1);
  CHECK(repo.partial_bytes == 15);
  CHECK(repo.problems.empty());
}

TEST_CASE("A repository without snapshots") {
  const CacheByHand cache;
  cache.write(cache.folder("bare") / "refs/main", CacheByHand::commit('a'));
  CHECK(lines(only(cache).problems) ==
        "has no folder snapshots\nref \"main\" stands for aaaaaaaaaaaa, which is not there\n");
}

TEST_CASE("A folder that cannot be read is told, and what it may link to counts as unknown") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "sub/config.json", "{}");
  cache.add("tiny", 'b', "config.json", "{}");
  fs::permissions(cache.root().parent_path(), fs::perms(0755));
  const fs::path closed = cache.folder("tiny") / "snapshots" / CacheByHand::commit('a') / "sub";
  fs::permissions(closed, fs::perms::none);
  const int code = as_nobody([&] {
    const CachedRepo repo = only(cache);
    if (lines(repo.problems) !=
        "snapshots/" + CacheByHand::commit('a') + "/sub: cannot be read: Permission denied\n")
      return 1;
    return !repo.links_are_known && repo.revisions.size() == 2 ? 0 : 2;
  });
  fs::permissions(closed, fs::perms::owner_all);
  CHECK(code == 0);
}

TEST_CASE("Thousands of folders in each other are walked and not recursed into") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "{}");
  int at =
      open((cache.folder("tiny") / "snapshots" / CacheByHand::commit('a')).c_str(), O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < 3000 && at >= 0; ++i) {
    REQUIRE(mkdirat(at, "d", 0777) == 0);
    const int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
    close(at);
    at = next;
  }
  close(at);
  const CachedRepo repo = only(cache);
  CHECK(repo.bytes == 2);
  CHECK_FALSE(repo.links_are_known);  // deeper than a path may be long
  CHECK(repo.problems.size() == 1);
}
