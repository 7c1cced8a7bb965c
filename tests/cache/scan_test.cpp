#include "cache/store/scan.h"

#include "cache/loopback.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("A cache that does not exist holds nothing") { CHECK(scan(Store("/no/such/folder")).empty()); }

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
  CHECK(repos[0].problems.empty());
  CHECK(repos[0].partial_bytes == 0);
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
  put(loopback.repo_folder() / "snapshots/stray", "x");
  put(loopback.repo_folder() / "blobs" / (std::string(64, 'e') + ".12345678.incomplete"), "12345");
  put(loopback.cache_root() / "version.txt", "1");
  put(loopback.cache_root() / "models--not--a--repo/x", "x");
  const auto repos = scan(loopback.store());
  REQUIRE(repos.size() == 1);
  CHECK(repos[0].revisions.size() == 1);
  CHECK(repos[0].revisions[0].files == 4);
  CHECK(repos[0].partial_bytes == 5);
  std::string problems;
  for (const std::string& problem : repos[0].problems) problems += problem + "\n";
  for (const char* part : {"\"config.json\" leads nowhere", "\"old\" stands for dddddddddddd",
                           "\"odd\" holds no commit", "snapshots/stray is no revision"})
    CHECK(problems.find(part) != std::string::npos);
  CHECK(repos[0].problems.size() == 4);
}

TEST_CASE("Repositories are sorted by type and name") {
  const TempDir dir;
  for (const char* folder :
       {"spaces--a--a", "datasets--a--b", "models--z--z", "models--a--b", "models--gpt2"})
    fs::create_directories(dir / folder / "snapshots");
  std::vector<std::string> ids;
  for (const CachedRepo& repo : scan(Store(dir.path()))) ids.push_back(repo.repo.id);
  CHECK(ids == std::vector<std::string>{"a/b", "gpt2", "z/z", "a/b", "a/a"});
}
