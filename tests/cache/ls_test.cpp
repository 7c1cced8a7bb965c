// hfcache ls as its users see it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cache/cache_by_hand.h"
#include "support/child.h"

namespace fs = std::filesystem;
using namespace hf::test;
using namespace std::chrono_literals;

namespace {

Ended ls(const CacheByHand& cache, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), "ls");
  return run("hfcache", arguments, {{"HF_HUB_CACHE", cache.root().string()}});
}

CacheByHand& fill(CacheByHand& cache) {
  CacheByHand::age(cache.add("tiny", 'a', "config.json", "{}"), 50h, 24h * 8);
  CacheByHand::age(cache.add("tiny", 'b', "model.bin", std::string(2000, 'x')), 24h * 60, 24h * 400);
  CacheByHand::age(cache.add("big", 'c', "model.bin", std::string(3'000'000, 'x')), 30min, 90min);
  cache.ref("tiny", "main", 'a');
  cache.ref("big", "main", 'c');
  cache.ref("big", "v1", 'c');
  return cache;
}

}  // namespace

TEST_CASE("An empty cache and none are an empty table") {
  const CacheByHand cache;
  const Ended ended = ls(cache);
  CHECK(ended.code == 0);
  CHECK(ended.out == "REPO_ID  TYPE  REVISIONS  REFS  FILES  SIZE  USED  MODIFIED\n");
  CHECK(ended.err.empty());
  CHECK(ls(cache, {"--json"}).out == "[]\n");
}

TEST_CASE("A folder that is named must be there and be one") {
  const CacheByHand cache;
  cache.write(cache.root(), "a file");
  const Ended missing = ls(cache, {"--cache-dir", "/no/such/folder"});
  CHECK(missing.code == 3);
  CHECK(missing.err == "hfcache: --cache-dir: there is no folder /no/such/folder\n");
  const Ended file = ls(cache, {"--cache-dir", cache.root().string()});
  CHECK(file.code == 8);
  CHECK(file.err ==
        "hfcache: " + cache.root().string() + ": is no folder, the folder of a cache is expected\n");
  CHECK(ls(cache).code == 8);  // by HF_HUB_CACHE too
}

TEST_CASE("A line a repository") {
  CacheByHand cache;
  const Ended ended = ls(fill(cache));
  CHECK(ended.code == 0);
  CHECK(ended.out ==
        "REPO_ID    TYPE   REVISIONS  REFS      FILES    SIZE  USED            MODIFIED\n"
        "acme/big   model          1  main, v1      1  3.0 MB  30 minutes ago  1 hour ago\n"
        "acme/tiny  model          2  main          2  2.0 kB  2 days ago      8 days ago\n");
  CHECK(ended.err == "2 repositories, 3.0 MB on the disk\n");
  CHECK(ls(cache, {"--quiet"}).err.empty());
}

TEST_CASE("A line a revision") {
  CacheByHand cache;
  CHECK(ls(fill(cache), {"--revisions"}).out ==
        "REPO_ID    TYPE   REVISION      REFS      FILES    SIZE  USED            MODIFIED\n"
        "acme/big   model  cccccccccccc  main, v1      1  3.0 MB  30 minutes ago  1 hour ago\n"
        "acme/tiny  model  aaaaaaaaaaaa  main          1     2 B  2 days ago      8 days ago\n"
        "acme/tiny  model  bbbbbbbbbbbb                1  2.0 kB  2 months ago    13 months ago\n");
}

TEST_CASE("Sorted, filtered and cut") {
  CacheByHand cache;
  fill(cache);
  const auto ids = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    std::string out;
    for (const auto& line : nlohmann::json::parse(ls(cache, arguments).out))
      out += (line.contains("commit") ? line["commit"].get<std::string>().substr(0, 1)
                                      : line["repo_id"].get<std::string>()) +
             " ";
    return out;
  };
  CHECK(ids({"--sort", "size:asc"}) == "acme/tiny acme/big ");
  CHECK(ids({"--sort", "used", "--limit", "1"}) == "acme/big ");
  CHECK(ids({"--filter", "size>1MB"}) == "acme/big ");
  CHECK(ids({"--filter", "used>1d", "--filter", "id=*/tiny"}) == "acme/tiny ");
  CHECK(ids({"--revisions", "--filter", "detached"}) == "b ");
  CHECK(ids({"--revisions", "--sort", "used:asc", "--limit", "2"}) == "b a ");
  CHECK(ids({"--limit", "0"}).empty());
  CHECK(ls(cache, {"--filter", "size>big"}).code == 2);
  CHECK(ls(cache, {"--sort", "colour"}).code == 2);
  CHECK(ls(cache, {"--limit", "-1"}).code == 2);
}

TEST_CASE("JSON with whole numbers and times of UTC") {
  CacheByHand cache;
  fill(cache);
  cache.write(cache.folder("tiny") / "blobs" / (std::string(64, 'e') + ".incomplete"), "12345");
  cache.write(cache.folder("tiny") / "blobs" / std::string(64, 'f'), "123");
  const auto json = nlohmann::json::parse(ls(cache, {"--json"}).out);
  REQUIRE(json.size() == 2);
  const auto& tiny = json[1];
  CHECK(tiny["repo_id"] == "acme/tiny");
  CHECK(tiny["repo_type"] == "model");
  CHECK(tiny["files"] == 2);
  CHECK(tiny["bytes"] == 2002);
  CHECK(tiny["partial_bytes"] == 5);
  CHECK(tiny["unreferenced_bytes"] == 3);
  CHECK(tiny["path"] == cache.folder("tiny").string());
  CHECK(tiny["problems"].empty());
  REQUIRE(tiny["revisions"].size() == 2);
  CHECK(tiny["revisions"][0]["commit"] == CacheByHand::commit('a'));
  CHECK(tiny["revisions"][0]["refs"][0] == "main");
  CHECK(tiny["revisions"][0]["files"] == 1);
  CHECK(tiny["revisions"][0]["bytes"] == 2);
  const std::string used = tiny["last_used"];
  CHECK(used.size() == 20);
  CHECK(used[10] == 'T');
  CHECK(used.back() == 'Z');
}

TEST_CASE("Revisions that adopt made up are marked") {
  CacheByHand cache;
  fill(cache);
  cache.write(cache.root() / ".locks/models--acme--tiny/synthetic", CacheByHand::commit('b') + "\n");
  const std::string table = ls(cache, {"--revisions"}).out;
  CHECK(table.find("aaaaaaaaaaaa  main ") != std::string::npos);
  CHECK(table.find("bbbbbbbbbbbb  (synthetic) ") != std::string::npos);
  CHECK(ls(cache).out.find("main (synthetic) ") != std::string::npos);
  const auto json = nlohmann::json::parse(ls(cache, {"--revisions", "--filter", "synthetic", "--json"}).out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["commit"] == CacheByHand::commit('b'));
  CHECK(json[0]["synthetic"] == true);
}

TEST_CASE("What is wrong is told on standard error and shows no raw bytes") {
  CacheByHand cache;
  fill(cache);
  cache.write(cache.root() / "odd\x1b[2J", "x");
  cache.write(cache.folder("tiny") / "refs/gone", CacheByHand::commit('9'));
  cache.write(cache.folder("tiny") / "blobs" / std::string(64, 'f'), std::string(1234, 'x'));
  const Ended ended = ls(cache);
  CHECK(ended.code == 0);
  CHECK(ended.err ==
        "2 repositories, 3.0 MB on the disk\n"
        "acme/tiny: ref \"gone\" stands for 999999999999, which is not there\n"
        "odd\\x1b[2J is no repository and nothing else of a cache\n"
        "1.2 kB that no revision needs: hfcache prune removes it\n");
}
