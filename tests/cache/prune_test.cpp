#include "cache/store/prune.h"

#include <doctest/doctest.h>

#include <set>

#include "cache/cache_by_hand.h"
#include "cache/removal_checks.h"
#include "cache/store/repo_folder.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using namespace std::chrono_literals;

namespace {

// The plan as words: "tiny:a" for a revision, "tiny/<first digits>" for a blob, the paths of remnants.
std::set<std::string> planned(const CacheContents& contents, const PruneRules& rules) {
  std::set<std::string> words;
  const RemovalPlan plan = plan_prune(contents, rules);
  for (const RepoRemoval& removal : plan.repos) {
    const CachedRepo& repo = *removal.repo;
    const std::string id = repo.repo.id.substr(repo.repo.id.find('/') + 1);
    for (const std::size_t at : removal.revisions) words.insert(id + ":" + repo.revisions[at].commit[0]);
    for (const std::size_t at : removal.blobs) words.insert(id + "/" + repo.contents[at].path.substr(6, 8));
    for (const std::size_t at : removal.remnants) words.insert(repo.remnants[at].path);
    if (removal.is_whole) words.insert(id + " whole");
  }
  for (const SharedBlob& blob : plan.shared) words.insert("shared " + blob.name.substr(0, 2));
  return words;
}

std::set<std::string> planned(const CacheByHand& cache, const PruneRules& rules) {
  return planned(contents_of(cache.store()), rules);
}

std::string blob(const std::string& repo, const std::string& content) {
  return repo + "/" + CacheByHand::etag(content).substr(0, 8);
}

using Words = std::set<std::string>;

}  // namespace

TEST_CASE("Revisions without a ref go with what only they have") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "common");
  cache.add("tiny", 'a', "model.bin", "new");
  cache.add("tiny", 'b', "config.json", "common");
  cache.add("tiny", 'b', "model.bin", "old!");
  cache.ref("tiny", "main", 'a');
  CHECK(planned(cache, in(2h)) == Words{"tiny:b", blob("tiny", "old!")});
  const CacheContents contents = contents_of(cache.store());
  CHECK(plan_prune(contents, in(2h)).bytes == 4);
  cache.ref("tiny", "v1", 'b');
  CHECK(planned(cache, in(2h)).empty());
}

TEST_CASE("What is younger than an hour stays") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "kept");
  cache.ref("tiny", "main", 'a');
  cache.add("tiny", 'b', "config.json", "detached");
  cache.write(cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan"), "orphan");
  cache.write(cache.folder("tiny") / "refs/torn", "0123");
  cache.write(cache.folder("tiny") / "trees" / (CacheByHand::commit('9') + ".json"), "{}");
  CHECK(planned(cache, in(0h)).empty());
  CHECK(planned(cache, in(59min)).empty());
  CHECK(planned(cache, in(61min)) == Words{"tiny:b", blob("tiny", "detached"), blob("tiny", "orphan"),
                                           "refs/torn", "trees/" + CacheByHand::commit('9') + ".json"});
  PruneRules at_once = in(1s);
  at_once.grace = 0s;
  CHECK(planned(cache, at_once).size() == 5);
}

TEST_CASE("An old time of modification makes a new blob not old") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "kept");
  const fs::path orphan = cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan");
  cache.write(orphan, "orphan");
  CacheByHand::age(orphan, 1000h, 1000h);  // as a copy that keeps times
  cache.ref("tiny", "main", 'a');
  CHECK(planned(cache, in(0h)).empty());
}

TEST_CASE("Partial files of huggingface_hub stay for a day, ours for an hour") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "kept");
  cache.ref("tiny", "main", 'a');
  const std::string hash = CacheByHand::etag("other");
  cache.write(cache.folder("tiny") / "blobs" / (hash + ".incomplete"), "123");
  cache.write(cache.folder("tiny") / "blobs" / (hash + ".0123abcd.incomplete"), "123");
  cache.write(cache.folder("tiny") / "blobs" / (hash + ".0123abcd.part"), "123");
  CHECK(planned(cache, in(2h)) == Words{"blobs/" + hash + ".0123abcd.part"});
  CHECK(planned(cache, in(25h)).size() == 3);
}

TEST_CASE("Only revisions that were not used for so long") {
  const CacheByHand cache;
  CacheByHand::age(cache.add("tiny", 'a', "model.bin", "one"), 24h * 40, 24h * 90);
  CacheByHand::age(cache.add("tiny", 'b', "model.bin", "two"), 24h * 20, 24h * 90);
  CacheByHand::age(cache.add("tiny", 'c', "model.bin", "three"), 24h * 50, 24h * 90);
  cache.ref("tiny", "main", 'c');
  PruneRules rules = in(2h);
  rules.older_than = 24h * 30;
  CHECK(planned(cache, rules) == Words{"tiny:a", blob("tiny", "one")});
  rules.with_referenced = true;
  CHECK(planned(cache, rules) == Words{"tiny:a", "tiny:c", blob("tiny", "one"), blob("tiny", "three")});
}

TEST_CASE("The use of a content that another revision has is not this one's") {
  const CacheByHand cache;
  CacheByHand::age(cache.add("tiny", 'a', "tokenizer.json", "common"), 1h, 24h * 90);
  CacheByHand::age(cache.add("tiny", 'a', "model.bin", "new"), 1h, 24h * 90);
  cache.add("tiny", 'b', "tokenizer.json", "common");
  CacheByHand::age(cache.add("tiny", 'b', "model.bin", "old"), 24h * 40, 24h * 90);
  PruneRules rules = in(2h);
  rules.older_than = 24h * 30;
  CHECK(planned(cache, rules) == Words{"tiny:b", blob("tiny", "old")});
}

TEST_CASE("The least recently used revisions go until the cache is small enough") {
  const CacheByHand cache;
  CacheByHand::age(cache.add("one", 'a', "model.bin", std::string(100, '1')), 30h, 24h * 90);
  CacheByHand::age(cache.add("two", 'b', "model.bin", std::string(100, '2')), 90h, 24h * 90);
  CacheByHand::age(cache.add("two", 'c', "model.bin", std::string(100, '3')), 60h, 24h * 90);
  for (const auto& [repo, digit] : {std::pair("one", 'a'), {"two", 'b'}, {"two", 'c'}})
    cache.ref(repo, std::string("v-") + digit, digit);
  PruneRules rules = in(2h);
  rules.keep_bytes = 300;
  CHECK(planned(cache, rules).empty());
  rules.keep_bytes = 299;
  CHECK(planned(cache, rules) == Words{"two:b", blob("two", std::string(100, '2'))});
  rules.keep_bytes = 150;
  CHECK(planned(cache, rules).size() == 5);  // two revisions, two blobs, and all of repository two
  rules.keep_bytes = 0;
  CHECK(planned(cache, rules).contains("one:a"));
  rules.now -= 2h;  // nothing is old enough to go
  CHECK(planned(cache, rules).empty());
}

TEST_CASE("A revision is worth to the room it makes what only it has") {
  const CacheByHand cache;
  CacheByHand::age(cache.add("tiny", 'a', "model.bin", std::string(100, '1')), 90h, 24h * 90);
  cache.add("tiny", 'b', "model.bin", std::string(100, '1'));
  CacheByHand::age(cache.add("tiny", 'b', "more.bin", std::string(50, '2')), 30h, 24h * 90);
  for (const char digit : {'a', 'b'}) cache.ref("tiny", std::string("v-") + digit, digit);
  PruneRules rules = in(2h);
  rules.keep_bytes = 149;
  // Removing a alone frees nothing, so b has to go as well: all of it.
  CHECK(planned(cache, rules) == Words{"tiny whole", "tiny:a", "tiny:b", blob("tiny", std::string(100, '1')),
                                       blob("tiny", std::string(50, '2'))});
}

TEST_CASE("Shared contents that no repository has") {
  const CacheByHand cache;
  cache.share("one", 'a', "model.bin", std::string(100, 'x'), 'c');
  cache.share("two", 'b', "model.bin", std::string(100, 'x'), 'c');
  cache.ref("one", "main", 'a');
  cache.write(cache.root() / "blobs/dd" / std::string(64, 'd'), "unused");
  cache.write(cache.root() / "blobs/dd" / (std::string(64, 'd') + ".refs"), "models--a--b/blobs/x\n");
  cache.write(cache.root() / "blobs/ee" / std::string(64, 'e'), "has no list, stays");
  CHECK(planned(cache, in(0h)).empty());
  CHECK(planned(cache, in(2h)) ==
        Words{"two:b", "two whole", blob("two", std::string(100, 'x')), "shared dd"});
  const CacheContents contents = contents_of(cache.store());
  CHECK(plan_prune(contents, in(2h)).bytes == 6);  // repository one still has the other
  fs::remove(cache.folder("one") / "refs/main");
  const CacheContents unreferenced = contents_of(cache.store());
  CHECK(plan_prune(unreferenced, in(2h)).bytes == 6 + 100);
}

TEST_CASE("Where not every link could be read no blob goes") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "kept");
  cache.ref("tiny", "main", 'a');
  cache.write(cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan"), "orphan");
  fs::create_directory_symlink(cache.root(),
                               cache.folder("tiny") / "snapshots" / CacheByHand::commit('a') / "sub");
  CHECK(planned(cache, in(2h)).empty());
}

TEST_CASE("What a folder of another name below snapshots has stays") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "kept");
  cache.ref("tiny", "main", 'a');
  cache.write(cache.folder("tiny") / "blobs" / CacheByHand::etag("mine"), "mine");
  fs::create_directories(cache.folder("tiny") / "snapshots/my-own");
  fs::create_symlink("../../blobs/" + CacheByHand::etag("mine"),
                     cache.folder("tiny") / "snapshots/my-own/file");
  CHECK(planned(cache, in(2h)).empty());
}

TEST_CASE("Where not every ref could be read no revision goes") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "kept");
  cache.ref("tiny", "main", 'a');
  cache.add("tiny", 'b', "config.json", "of a branch that is a link");
  fs::create_symlink("main", cache.folder("tiny") / "refs/other");
  PruneRules rules = in(2h);
  rules.keep_bytes = 0;
  CHECK(planned(cache, rules).empty());
  fs::remove(cache.folder("tiny") / "refs/other");
  CHECK(planned(cache, in(2h)).contains("tiny:b"));
  fs::rename(cache.folder("tiny") / "refs", cache.folder("tiny") / "kept-refs");
  cache.write(cache.folder("tiny") / "refs", "a file");
  CHECK(planned(cache, rules).empty());
}

TEST_CASE("A ref to a commit that is elsewhere stays: a download into a folder has written it") {
  const CacheByHand cache;
  cache.write(cache.folder("tiny") / "refs/main", CacheByHand::commit('a'));
  CHECK(planned(cache, in(25h)).empty());
  fs::create_directories(cache.folder("bare") / "snapshots");
  CHECK(planned(cache, in(25h)) == Words{"bare whole"});
}

TEST_CASE("A revision is in use from the beginning of a download on") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "{}");
  const fs::path snapshot = cache.folder("tiny") / "snapshots" / CacheByHand::commit('a');
  CacheByHand::age(snapshot, 500h, 500h);
  RepoFolder(cache.store(), {"acme/tiny"}).make_snapshot(CacheByHand::commit('a'));
  struct stat info {};
  REQUIRE(stat(snapshot.c_str(), &info) == 0);
  CHECK(std::time(nullptr) - info.st_mtime < 60);
}
