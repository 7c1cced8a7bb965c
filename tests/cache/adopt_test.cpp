#include "cache/mirror/adopt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cache/adoption.h"
#include "cache/store/scan.h"
#include "cache/store/synthetic_commits.h"
#include "support/child.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("A folder becomes the revision that the user names") {
  const Foreign folder;
  const AdoptPlan plan = folder.adopt({.commit = kCommit});
  CHECK(plan.is_whole());
  CHECK(read_text(folder.home() / "refs/main") == kCommit);
  check_same_files(folder.source, folder.snapshot());
  CHECK(fs::read_symlink(folder.snapshot() / "sub/model.safetensors") ==
        "../../../blobs/" + sha256_of(folder.weights));
  CHECK(fs::read_symlink(folder.snapshot() / "config.json") == "../../blobs/" + git_sha1_of(folder.config));
  CHECK(count_files(folder.home() / "blobs") == 4);
  CHECK_FALSE(fs::exists(folder.home() / "trees"));  // nobody said that these are all files of the revision
  CHECK(folder.is_right());
  CHECK(count_files(folder.source) == 5);
}

TEST_CASE("A commit that nothing tells is refused, or made up of the content") {
  const Foreign folder;
  CHECK(error_of([&] { folder.plan({}); }) == ErrorKind::usage);
  CHECK_FALSE(fs::exists(folder.store.root()));
  const AdoptPlan plan = folder.adopt({.ref = "local", .synthetic = true});
  const std::string commit = plan.revisions[0].commit;
  CHECK(is_commit(commit));
  CHECK(read_text(folder.home() / "refs/local") == commit);
  CHECK(synthetic_commits(folder.store, kRepo).contains(commit));
  CHECK(scan(folder.store)[0].revisions[0].is_synthetic);
  CHECK(scan(folder.store)[0].problems.empty());
  CHECK(run("hfcache", {"ls", "--cache-dir", folder.store.root().string()}).out.find("local (synthetic)") !=
        std::string::npos);
  CHECK(fs::exists(folder.home() / "trees" / (commit + ".json")));
  CHECK(verify(folder.store, {.complete = true}, no_progress()).count(Verdict::missing) == 0);
  CHECK(folder.is_right());
  const Foreign again;
  CHECK(again.plan({.synthetic = true}).revisions[0].commit == commit);
  put(again.source / "config.json", "{ }\n");
  CHECK(again.plan({.synthetic = true}).revisions[0].commit != commit);
}

TEST_CASE("A folder of files needs to be told whose they are") {
  const Foreign folder;
  CHECK(error_of([&] {
          plan_adopt(folder.source, folder.store, {.commit = kCommit}, nullptr, no_progress());
        }) == ErrorKind::usage);
  CHECK(error_of([&] {
          plan_adopt(folder.dir / "none", folder.store, {.repo = kRepo}, nullptr, no_progress());
        }) == ErrorKind::not_found);
}

TEST_CASE("The notes of a download tell the commit and the hashes") {
  const Foreign folder;
  folder.note_all();
  put(folder.source / "mine.txt", "x");
  const AdoptPlan plan = folder.adopt({});
  CHECK(plan.is_whole());
  CHECK(plan.revisions[0].commit == kCommit);
  CHECK(why_of(plan, folder.source / "mine.txt") == "was not downloaded");
  CHECK(read_text(folder.home() / "refs/main") == kCommit);
  CHECK(folder.is_right());
}

TEST_CASE("Files of several downloads become several revisions, the last of which gets the ref") {
  const Foreign folder;
  const std::string other(40, 'd');
  folder.note_all();
  folder.note("config.json", git_sha1_of(folder.config), other, "1800000000");
  const AdoptPlan plan = folder.adopt({});
  CHECK(plan.revisions.size() == 2);
  CHECK(read_text(folder.home() / "refs/main") == other);
  CHECK(count_files(folder.snapshot(other)) == 1);
  CHECK(count_files(folder.snapshot()) == 4);
}

TEST_CASE("A file that was changed since it was downloaded refuses the revision, or makes one of its own") {
  const Foreign folder;
  folder.note_all();
  put(folder.source / "config.json", "{ }");
  const AdoptPlan plan = folder.adopt({});
  CHECK_FALSE(plan.is_whole());
  CHECK_FALSE(plan.revisions[0].is_taken());
  CHECK(why_of(plan, folder.source / "config.json").find(git_sha1_of(folder.config)) != std::string::npos);
  CHECK_FALSE(fs::exists(folder.home()));
  const AdoptPlan own = folder.adopt({.synthetic = true});
  CHECK(own.is_whole());
  CHECK(own.revisions[0].is_synthetic);
  CHECK(folder.is_right());
}

TEST_CASE("A pointer of git-lfs is no content, but git-lfs may have it") {
  const Foreign folder;
  const std::string oid = sha256_of(folder.weights);
  put(folder.source / "sub/same.safetensors",
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize " +
          std::to_string(folder.weights.size()) + "\n");
  const AdoptPlan refused = folder.plan({.commit = kCommit});
  CHECK_FALSE(refused.is_whole());
  CHECK(why_of(refused, folder.source / "sub/same.safetensors").find("git lfs pull") != std::string::npos);
  put(folder.source / ".git/lfs/objects" / oid.substr(0, 2) / oid.substr(2, 2) / oid, folder.weights);
  CHECK(folder.adopt({.commit = kCommit}).is_whole());
  CHECK(read_text(folder.snapshot() / "sub/same.safetensors") == folder.weights);
  CHECK_FALSE(fs::exists(folder.snapshot() / ".git"));
  CHECK(folder.is_right());
}

TEST_CASE("What leads out of the folder or is no file is not taken") {
  const Foreign folder;
  put(folder.dir / "secret", "x");
  fs::create_symlink("../secret", folder.source / "out");
  fs::create_symlink("config.json", folder.source / "within.json");
  REQUIRE(mkfifo((folder.source / "pipe").c_str(), 0600) == 0);
  put(folder.source / "odd\x01name", "x");
  const AdoptPlan plan = folder.adopt({.commit = kCommit});
  CHECK_FALSE(plan.is_whole());
  CHECK(why_of(plan, folder.source / "out").find("leads out") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.snapshot() / "out"));
  CHECK_FALSE(fs::exists(folder.snapshot() / "pipe"));
  CHECK(read_text(folder.snapshot() / "within.json") == folder.config);
}

TEST_CASE("A move leaves nothing behind") {
  const Foreign folder;
  const auto inode = [](const fs::path& path) {
    struct stat info {};
    REQUIRE(stat(path.c_str(), &info) == 0);
    return info.st_ino;
  };
  folder.note_all();
  const ino_t before = inode(folder.source / "config.json");
  fs::permissions(folder.source / "config.json", fs::perms::owner_read | fs::perms::owner_write);
  folder.adopt({.mode = AdoptMode::move});
  CHECK(inode(folder.snapshot() / "config.json") == before);
  CHECK(fs::status(folder.snapshot() / "config.json").permissions() ==
        fs::status(folder.home() / "refs/main").permissions());  // as the cache's other files
  CHECK_FALSE(fs::exists(folder.source));
  CHECK(folder.is_right());
}

TEST_CASE("A move that is refused or is not all of the folder leaves the rest") {
  const Foreign folder;
  folder.note_all();
  put(folder.source / "sub/mine.txt", "x");
  SUBCASE("the rest") {
    folder.adopt({.mode = AdoptMode::move});
    CHECK(read_text(folder.source / "sub/mine.txt") == "x");
    CHECK_FALSE(fs::exists(folder.source / "config.json"));
  }
  SUBCASE("everything") {
    put(folder.source / "config.json", "changed");
    folder.adopt({.mode = AdoptMode::move});
    CHECK(count_files(folder.source) == 11);
  }
}

TEST_CASE("A move of a made-up revision that was broken off is ended by the next") {
  const Foreign folder;
  const std::string commit = folder.adopt({.synthetic = true}).revisions[0].commit;
  fs::remove(folder.source / "config.json");
  CHECK(folder.adopt({.synthetic = true, .mode = AdoptMode::move}).revisions[0].commit == commit);
  CHECK_FALSE(fs::exists(folder.source));
  CHECK(count_files(folder.home() / "snapshots") == 5);
}

TEST_CASE("Links are the same file under two names") {
  const Foreign folder;
  folder.adopt({.commit = kCommit, .mode = AdoptMode::link});
  CHECK(fs::hard_link_count(folder.source / "config.json") == 2);
  CHECK(count_files(folder.source) == 5);
  CHECK(folder.is_right());
}

TEST_CASE("A wrong blob that stands in the way is replaced, a right one is kept") {
  const Foreign folder;
  put(folder.home() / "blobs" / git_sha1_of(folder.config), "{ }");  // of the same length
  folder.adopt({.commit = kCommit});
  CHECK(folder.is_right());
  CHECK(folder.adopt({.commit = kCommit}).is_whole());
  CHECK(folder.is_right());
}

TEST_CASE("A file that changes between plan and execution is found out, and no ref is written") {
  const Foreign folder;
  const AdoptPlan plan = folder.plan({.commit = kCommit});
  std::string changed = folder.weights;
  changed[1000] ^= 1;
  put(folder.source / "sub/model.safetensors", changed);
  put(folder.source / "sub/same.safetensors", changed);
  CHECK(error_of([&] { adopt(plan, folder.store, AdoptMode::copy, no_progress()); }) == ErrorKind::integrity);
  CHECK_FALSE(fs::exists(folder.home() / "refs/main"));
  check_no_wrong_blob(folder.home());
}

TEST_CASE("The Hub tells commit and hashes of a folder of files") {
  Loopback loopback;
  const TempDir dir;
  fs::copy(loopback.root() / Loopback::kRepo, dir / "clone", fs::copy_options::recursive);
  put(dir / "clone/mine.txt", "x");
  const AdoptRequest request{.repo = Repo{Loopback::kRepo}};
  const auto plan = [&] {
    return plan_adopt(dir / "clone", loopback.store(), request, &loopback.remote(), no_progress());
  };
  CHECK(why_of(plan(), dir / "clone/mine.txt").starts_with("is no file of revision"));
  adopt(plan(), loopback.store(), AdoptMode::copy, no_progress());
  const std::string commit = loopback.hub().commit(Loopback::kRepo);
  CHECK(read_text(loopback.repo_folder() / "refs/main") == commit);
  CHECK(verify(loopback.store(), {.complete = true}, no_progress()).count(Verdict::ok) == 5);
  loopback.hub().clear_log();
  loopback.download();  // nothing is left to fetch
  for (const LoggedRequest& asked : loopback.hub().log())
    CHECK(asked.target.find("/resolve/") == std::string::npos);
  put(dir / "clone/config.json", "{}");
  CHECK_FALSE(plan().is_whole());
}

TEST_CASE("hfcache adopt reports each file, and exits with 6 when one is not what it should be") {
  const Foreign folder;
  const auto adopt = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"adopt", folder.source.string()});
    return run("hfcache", arguments,
               {{"HF_HUB_CACHE", folder.store.root().string()}, {"HF_HUB_OFFLINE", "1"}});
  };
  CHECK(adopt({}).code == 2);
  CHECK(adopt({"--repo-id", "acme/mine"}).code == 2);
  CHECK(adopt({"--repo-id", "acme/mine", "--revision", "main"}).code == 2);
  CHECK(adopt({"--repo-id", "acme/mine", "--revision", kCommit, "--move", "--link"}).code == 2);
  const Ended dry = adopt({"--repo-id", "acme/mine", "--revision", kCommit, "--dry-run"});
  CHECK(dry.code == 0);
  CHECK(dry.out.starts_with("ACTION"));
  CHECK(dry.out.ends_with("5 files of 1 revisions, 6.3 MB to take over\n"));
  CHECK_FALSE(fs::exists(folder.store.root()));
  const Ended json = adopt({"--repo-id", "acme/mine", "--revision", kCommit, "--json"});
  CHECK(json.code == 0);
  const auto report = nlohmann::json::parse(json.out);
  CHECK(report["revisions"][0]["path"] == folder.snapshot().string());
  CHECK(report["revisions"][0]["files"].size() == 5);
  folder.note_all();
  put(folder.source / "config.json", "changed");
  CHECK(adopt({"--repo-id", "acme/mine"}).code == 6);
}

TEST_CASE("An adoption that is killed leaves the source whole or the cache right") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 6; ++round) {
    const Foreign folder;
    Child child("hfcache",
                {"adopt", folder.source.string(), "--repo-id", "acme/mine", "--synthetic-commit", "--move"},
                {{"HF_HUB_CACHE", folder.store.root().string()}, {"HF_HUB_OFFLINE", "1"}});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    child.send(SIGKILL);
    child.wait();
    check_no_wrong_blob(folder.home());
    if (!fs::exists(folder.home() / "refs/main")) CHECK(count_files(folder.source) == 5);
    if (fs::exists(folder.source) && count_files(folder.source) > 0) {
      folder.adopt({.synthetic = true, .mode = AdoptMode::move});
      // A folder that was empty already, its last file gone before the kill, may stay.
      CHECK((!fs::exists(folder.source) || count_files(folder.source) == 0));
    }
    CHECK(folder.is_right());
    CHECK(count_files(folder.home() / "snapshots") == 5);
  }
}
