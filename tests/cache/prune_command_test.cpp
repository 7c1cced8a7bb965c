// hfcache prune and rm as processes: what they print, when they refuse, killed in the middle, several at
// once.
#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "cache/cache_by_hand.h"
#include "cache/loopback.h"
#include "cache/removal_checks.h"
#include "cache/store/file_lock.h"
#include "support/child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace std::chrono_literals;

namespace {

Ended hfcache(const fs::path& cache, std::vector<std::string> arguments) {
  return run("hfcache", arguments, {{"HF_HUB_CACHE", cache.string()}});
}

// Revision a, which main stands for, and b, with a blob of its own and an orphan beside it.
struct Filled : CacheByHand {
  Filled() {
    add("tiny", 'a', "config.json", "common");
    add("tiny", 'b', "config.json", "common");
    add("tiny", 'b', "model.bin", std::string(2000, 'x'));
    ref("tiny", "main", 'a');
    write(folder("tiny") / "blobs" / etag("orphan"), "orphan");
  }
  Ended run(std::vector<std::string> arguments) const { return hfcache(root(), std::move(arguments)); }
};

}  // namespace

TEST_CASE("What was put there within the hour stays, unless told otherwise") {
  const Filled cache;
  CHECK(cache.run({"prune"}).out == "freed 0 B\n");
  const Ended dry = cache.run({"prune", "--grace", "0s", "--dry-run"});
  CHECK(dry.code == 0);
  CHECK(dry.out ==
        "REPO_ID    TYPE   WHAT                     SIZE\n"
        "acme/tiny  model  revision bbbbbbbbbbbb\n"
        "acme/tiny  model  2 blobs                2.0 kB\n"
        "would free 2.0 kB\n");
  CHECK(dry.err.empty());
  CHECK_FALSE(fs::exists(cache.root() / ".locks"));  // a dry run changes nothing
  const Ended pruned = cache.run({"prune", "--grace", "0s"});
  CHECK(pruned.code == 0);
  CHECK(pruned.out == dry.out.substr(0, dry.out.find("would")) + "freed 2.0 kB\n");
  CHECK(cache.run({"prune", "--grace", "0s"}).out == "freed 0 B\n");
  CHECK(cache.run({"ls"}).err == "1 repository, 6 B on the disk\n");
}

TEST_CASE("prune as JSON") {
  const Filled cache;
  const fs::path locks = cache.root() / ".locks/models--acme--tiny";
  fs::create_directories(locks);
  const hf::cache::FileLock held(locks / (CacheByHand::etag("orphan") + ".lock"));
  const auto dry = nlohmann::json::parse(cache.run({"prune", "--grace", "0s", "--dry-run", "--json"}).out);
  CHECK(dry["dry_run"] == true);
  CHECK(dry["bytes"] == 2006);
  REQUIRE(dry["repos"].size() == 1);
  CHECK(dry["repos"][0]["repo_id"] == "acme/tiny");
  CHECK(dry["repos"][0]["revisions"][0]["commit"] == CacheByHand::commit('b'));
  CHECK(dry["repos"][0]["revisions"][0]["refs"].empty());
  CHECK(dry["repos"][0]["blobs"].size() == 2);
  CHECK(dry["shared"].empty());
  CHECK(dry["kept"].empty());
  const Ended ended = cache.run({"prune", "--grace", "0s", "--json"});
  CHECK(ended.code == 0);
  const auto done = nlohmann::json::parse(ended.out);
  CHECK(done["dry_run"] == false);
  CHECK(done["bytes"] == 0);
  CHECK(done["kept"].size() == 2);  // its revisions, and the blob
  CHECK(ended.err ==
        "model acme/tiny: is being downloaded, its revisions stay\nmodel acme/tiny: a blob is in use\n");
}

TEST_CASE("Old ones and as many as fit") {
  const CacheByHand cache;
  CacheByHand::age(cache.add("one", 'a', "model.bin", std::string(3000, '1')), 24h * 40, 24h * 90);
  CacheByHand::age(cache.add("two", 'b', "model.bin", std::string(3000, '2')), 24h * 10, 24h * 90);
  cache.ref("one", "main", 'a');
  cache.ref("two", "main", 'b');
  const auto prune = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"prune", "--grace", "0s"});
    return hfcache(cache.root(), arguments);
  };
  CHECK(prune({"--older-than", "30d"}).out == "freed 0 B\n");
  CHECK(prune({"--older-than", "30d", "--all", "--dry-run"}).out ==
        "REPO_ID   TYPE   WHAT                            SIZE\n"
        "acme/one  model  revision aaaaaaaaaaaa (main)\n"
        "acme/one  model  1 blob                        3.0 kB\n"
        "would free 3.0 kB\n");
  CHECK(prune({"--keep-size", "6kB"}).out == "freed 0 B\n");
  const Ended small = prune({"--keep-size", "5kB"});
  CHECK(small.out.find("acme/one") != std::string::npos);
  CHECK(small.out.ends_with("freed 3.0 kB\n"));
  CHECK(small.err.empty());
  CHECK_FALSE(fs::exists(cache.folder("one")));
  CHECK(hfcache(cache.root(), {"prune", "--keep-size", "1kB"}).err ==
        "the cache takes 3.0 kB: what is left is in use or was put there less than 1h ago\n");
}

TEST_CASE("What prune and rm do not take") {
  const Filled cache;
  const auto code = [&](std::vector<std::string> arguments) { return cache.run(std::move(arguments)).code; };
  CHECK(code({"prune", "--older-than", "30"}) == 2);
  CHECK(code({"prune", "--keep-size", "much"}) == 2);
  CHECK(code({"prune", "--grace", "x"}) == 2);
  CHECK(code({"prune", "--all"}) == 2);
  CHECK(code({"prune", "acme/tiny"}) == 2);
  CHECK(code({"prune", "--cache-dir", "/no/such/folder"}) == 3);
  CHECK(code({"rm"}) == 2);
  CHECK(code({"rm", "acme/tiny", "--repo-type", "thing"}) == 2);
  CHECK(code({"rm", "acme/none"}) == 3);
  CHECK(code({"rm", "acme/tiny", "--revision", "v9"}) == 3);
  CHECK(code({"rm", "acme/tiny", "acme/none"}) == 3);
  CHECK(cache.run({"ls"}).out.find("acme/tiny") != std::string::npos);  // nothing was removed
  CHECK(hfcache("/no/such/folder", {"prune"}).code == 0);
  CHECK(hfcache("/no/such/folder", {"rm", "acme/tiny"}).code == 3);
}

TEST_CASE("rm says what it removes and what it freed") {
  const Filled cache;
  CHECK(cache.run({"rm", "bbbbbbb", "--dry-run"}).out ==
        "REPO_ID    TYPE   WHAT                     SIZE\n"
        "acme/tiny  model  revision bbbbbbbbbbbb\n"
        "acme/tiny  model  1 blob                 2.0 kB\n"
        "would free 2.0 kB\n");
  CHECK(cache.run({"rm", "acme/tiny", "--revision", "main"}).out ==
        "REPO_ID    TYPE   WHAT                          SIZE\n"
        "acme/tiny  model  revision aaaaaaaaaaaa (main)\n"
        "freed 0 B\n");
  const auto all = nlohmann::json::parse(cache.run({"rm", "acme/tiny", "--json"}).out);
  CHECK(all["bytes"] == 2012);
  CHECK_FALSE(fs::exists(cache.folder("tiny")));
}

TEST_CASE("rm waits for no download and takes nothing from one") {
  Loopback loopback;
  put(loopback.root() / "acme/tiny/model.safetensors", noise(2 << 20, 3));
  loopback.hub().order({FaultKind::slow, "model.safetensors", -1, 2 << 20});
  Child download("hfcache", {"download", Loopback::kRepo},
                 {{"HF_ENDPOINT", loopback.hub().url()}, {"HF_HUB_CACHE", loopback.cache_root().string()}});
  for (int i = 0; i < 2000 && loopback.hub().bytes_served("model.safetensors") == 0; ++i)
    std::this_thread::sleep_for(5ms);
  const Ended removed = hfcache(loopback.cache_root(), {"rm", "acme/tiny"});
  CHECK(removed.code == 3 + 5);
  CHECK(removed.err == "hfcache: acme/tiny: a download into it is going on, nothing was removed\n");
  const Ended pruned = hfcache(loopback.cache_root(), {"prune", "--grace", "0s"});
  CHECK(pruned.code == 0);
  CHECK(download.wait().code == 0);
  check_same_files(loopback.root() / Loopback::kRepo, loopback.store().snapshot({Loopback::kRepo}, "main"));
  check_nothing_dangles(loopback.store());
}

namespace {

// One revision that main stands for and many without a ref; each has a content of its own, one that its
// neighbour has too, and one that all have.
struct Crowded : CacheByHand {
  static constexpr int kRevisions = 24;

  Crowded() {
    for (int i = 0; i < kRevisions; ++i) {
      const std::string commit = commit_of(i);
      for (const auto& [name, content] : {std::pair("config.json", std::string("all")),
                                          {"sub/own.bin", "own " + std::to_string(i)},
                                          {"sub/dir/pair.bin", "pair " + std::to_string(i / 2)}}) {
        const fs::path blob = folder("tiny") / "blobs" / etag(content);
        if (!fs::exists(blob)) write(blob, content);
        link_at(commit, name, etag(content));
      }
    }
    write(folder("tiny") / "refs/main", commit_of(7));
  }

  static std::string commit_of(int i) { return etag("commit " + std::to_string(i)).substr(0, 40); }

  // What must be there whatever happens.
  void check_referenced() const {
    const fs::path snapshot = folder("tiny") / "snapshots" / commit_of(7);
    CHECK(read_text(folder("tiny") / "refs/main") == commit_of(7));
    CHECK(read_text(snapshot / "config.json") == "all");
    CHECK(read_text(snapshot / "sub/own.bin") == "own 7");
    CHECK(read_text(snapshot / "sub/dir/pair.bin") == "pair 3");
    check_nothing_dangles(store());
    check_no_wrong_blob(folder("tiny"));
  }

  void check_pruned() const {
    check_referenced();
    const auto repo = contents_of(store()).repos.at(0);
    CHECK(repo.revisions.size() == 1);
    CHECK(repo.contents.size() == 3);
    CHECK(repo.remnants.empty());
    CHECK(repo.problems.empty());
  }

 private:
  void link_at(const std::string& commit, const std::string& name, const std::string& blob) const {
    const fs::path path = folder("tiny") / "snapshots" / commit / name;
    fs::create_directories(path.parent_path());
    const auto depth = std::count(name.begin(), name.end(), '/');
    std::string target = "../../blobs/" + blob;
    for (int i = 0; i < depth; ++i) target.insert(0, "../");
    fs::create_symlink(target, path);
  }
};

}  // namespace

TEST_CASE("prune killed at any moment leaves nothing that dangles, and the next one ends the work") {
  std::mt19937_64 random(42);
  std::chrono::microseconds whole{};
  {
    const Crowded cache;
    const auto begin = std::chrono::steady_clock::now();
    CHECK(hfcache(cache.root(), {"prune", "--grace", "0s"}).code == 0);
    whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    cache.check_pruned();
  }
  int killed = 0;
  for (int i = 0; i < 12; ++i) {
    const Crowded cache;
    Child child("hfcache", {"prune", "--grace", "0s"}, {{"HF_HUB_CACHE", cache.root().string()}});
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % static_cast<std::uint64_t>(whole.count())));
    child.send(SIGKILL);
    killed += child.wait().code == 128 + SIGKILL ? 1 : 0;
    cache.check_referenced();
    const Ended again = hfcache(cache.root(), {"prune", "--grace", "0s"});
    CAPTURE(again.err);
    CHECK(again.code == 0);
    cache.check_pruned();
  }
  CHECK(killed > 0);
}

TEST_CASE("Several prunes at once") {
  const Crowded cache;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(
        std::make_unique<Child>("hfcache", std::vector<std::string>{"prune", "--grace", "0s"},
                                std::map<std::string, std::string>{{"HF_HUB_CACHE", cache.root().string()}}));
  for (auto& child : children) {
    const Ended ended = child->wait();
    CAPTURE(ended.err);
    CHECK(ended.code == 0);
  }
  cache.check_referenced();
  CHECK(hfcache(cache.root(), {"prune", "--grace", "0s"}).code == 0);  // what one had locked the others left
  cache.check_pruned();
}

TEST_CASE("prune beside downloads takes nothing that they need") {
  Loopback loopback;
  for (int i = 0; i < 6; ++i) {
    put(loopback.root() / "acme/tiny/round", std::to_string(i));
    loopback.hub().forget();
    Child pruning("hfcache", {"prune"}, {{"HF_HUB_CACHE", loopback.cache_root().string()}});
    const fs::path snapshot = loopback.download();
    CHECK(pruning.wait().code == 0);
    check_same_files(loopback.root() / Loopback::kRepo, snapshot);
    check_nothing_dangles(loopback.store());
  }
}
