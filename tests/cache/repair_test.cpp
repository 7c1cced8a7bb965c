#include "cache/mirror/repair.h"

#include <csignal>
#include <thread>

#include "cache/loopback.h"
#include "support/child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

struct Damaged : Loopback {
  fs::path snapshot = download();
  std::string commit = hub().commit(kRepo);

  fs::path blob(const char* file) const { return fs::canonical(snapshot / file); }
  void flip(const char* file) const {
    std::string text = read_text(blob(file));
    text[text.size() / 2] ^= 1;
    std::ofstream(blob(file), std::ios::binary) << text;
  }
  VerifyReport verified() const { return verify(store(), {}, no_progress()); }
  bool is_right() const {
    const VerifyReport report = verified();
    return report.count(Verdict::wrong) == 0 && report.count(Verdict::missing) == 0;
  }
  std::vector<std::string> mend() {
    auto failures = repair(remote(), store(), verified(), no_progress());
    for (const std::string& failure : failures) MESSAGE(failure);
    return failures;
  }
  Ended command(std::map<std::string, std::string> variables = {}) {
    variables.emplace("HF_ENDPOINT", hub().url());
    variables.emplace("HF_HUB_CACHE", cache_root().string());
    return run("hfcache", {"verify", "--repair"}, variables);
  }
};

}  // namespace

TEST_CASE("Wrong and missing blobs are fetched again, and nothing else") {
  Damaged cache;
  cache.flip("model.safetensors");
  fs::remove(cache.blob("config.json"));
  cache.hub().clear_log();
  CHECK(cache.mend().empty());
  CHECK(cache.is_right());
  check_same_files(cache.root() / Loopback::kRepo, cache.snapshot);
  std::size_t files = 0;
  for (const LoggedRequest& request : cache.hub().log())
    files += request.target.find("/resolve/") != std::string::npos;
  CHECK(files == 2);
  CHECK(count_leftovers(cache.repo_folder()) == 0);
}

TEST_CASE("Links and copies in a snapshot become what the list says") {
  Damaged cache;
  fs::remove(cache.snapshot / "config.json");
  fs::create_symlink("../../blobs/" + cache.blob("model.safetensors").filename().string(),
                     cache.snapshot / "config.json");
  const std::string text = read_text(cache.snapshot / "model.safetensors");
  fs::remove(cache.snapshot / "empty");
  put(cache.snapshot / "empty", "x");
  cache.hub().clear_log();
  CHECK(cache.mend().empty());
  CHECK(cache.is_right());
  check_same_files(cache.root() / Loopback::kRepo, cache.snapshot);
  for (const LoggedRequest& request : cache.hub().log())  // its blob is right
    CHECK(request.target.find("config.json") == std::string::npos);
}

TEST_CASE("Refs are written anew: what they mean, what the Hub says, or with the revision that is gone") {
  Damaged cache;
  put(cache.root() / "acme/tiny@v2/config.json", "{}");
  cache.hub().forget();
  const fs::path refs = cache.repo_folder() / "refs";
  SUBCASE("with a line end") { put(refs / "main", cache.commit + "\n"); }
  SUBCASE("torn") { put(refs / "main", cache.commit.substr(0, 12)); }
  SUBCASE("of a revision that is gone") {
    auto request = cache.request();
    request.revision = "v2";
    fs::remove_all(cache.download(request));
  }
  SUBCASE("torn, of a revision that is not there") { put(refs / "v2", ""); }
  CHECK(cache.mend().empty());
  CHECK(cache.is_right());
  CHECK(read_text(refs / "main") == cache.commit);
  if (fs::exists(refs / "v2"))
    check_same_files(cache.root() / "acme/tiny@v2",
                     cache.repo_folder() / "snapshots" / cache.hub().commit("acme/tiny", "v2"));
}

TEST_CASE("A list that is none is asked for again") {
  Damaged cache;
  const fs::path list = cache.repo_folder() / "trees" / (cache.commit + ".json");
  const std::string text = read_text(list);
  put(list, text.substr(0, text.size() / 2));
  cache.flip("config.json");
  CHECK(cache.mend().empty());
  CHECK(cache.is_right());
  CHECK(read_text(list) == text);
}

TEST_CASE("A wrong blob that nothing leads to is removed: the next download would take it for right") {
  Damaged cache;
  const fs::path orphan = cache.repo_folder() / "blobs" / std::string(64, 'e');
  put(orphan, "x");
  CHECK(cache.mend().empty());
  CHECK_FALSE(fs::exists(orphan));
  CHECK(cache.is_right());
}

TEST_CASE("What was put right meanwhile is not removed") {
  Damaged cache;
  const fs::path orphan = cache.repo_folder() / "blobs" / sha256_hex(std::as_bytes(std::span("right", 5)));
  put(orphan, "wrong");
  const VerifyReport report = cache.verified();
  fs::remove(orphan);
  put(cache.cache_root() / "keeps the inode", "x");
  put(orphan, "right");
  CHECK(repair(cache.remote(), cache.store(), report, no_progress()).empty());
  CHECK(fs::exists(orphan));
}

TEST_CASE("What the Hub does not give stays as it is, and the rest is mended") {
  Damaged cache;
  cache.flip("model.safetensors");
  cache.flip("config.json");
  const std::string wrong = read_text(cache.snapshot / "model.safetensors");
  SUBCASE("because it is not there") {
    cache.hub().order({FaultKind::status, "model.safetensors", -1, 0, 404});
  }
  SUBCASE("because its bytes are others") {
    cache.hub().order({FaultKind::wrong_content, "model.safetensors", -1});
  }
  const auto failures = cache.mend();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].find("model.safetensors") != std::string::npos);
  CHECK(read_text(cache.snapshot / "model.safetensors") == wrong);
  CHECK(cache.verified().count(Verdict::wrong) == 1);
}

TEST_CASE("A folder that was downloaded into is repaired where its repository is told") {
  Loopback loopback;
  const TempDir dir;
  auto request = loopback.request();
  request.local_dir = dir / "folder";
  loopback.download(request);
  const auto hfcache = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"verify", "--local-dir", (dir / "folder").string()});
    return run("hfcache", arguments,
               {{"HF_ENDPOINT", loopback.hub().url()}, {"HF_HUB_CACHE", loopback.cache_root().string()}});
  };
  CHECK(hfcache({}).code == 0);
  CHECK(run("hfcache", {"verify", "--cache-dir", loopback.cache_root().string()}).code == 0);
  put(dir / "folder/config.json", "changed");
  fs::remove(dir / "folder/model.safetensors");
  CHECK(hfcache({}).code == 1);
  CHECK(hfcache({"--repair"}).code == 2);
  CHECK(hfcache({"--repair", "acme/tiny"}).code == 0);
  CHECK(read_text(dir / "folder/model.safetensors") ==
        read_text(loopback.root() / Loopback::kRepo / "model.safetensors"));
}

TEST_CASE("hfcache verify --repair ends in 0 when all is right, else in 1 and says why") {
  Damaged cache;
  cache.flip("config.json");
  put(cache.repo_folder() / "refs/main", cache.commit + "\n");
  const Ended offline = cache.command({{"TRANSFORMERS_OFFLINE", "1"}});
  CHECK(offline.code == 2);
  CHECK(offline.err.find("TRANSFORMERS_OFFLINE") != std::string::npos);
  const Ended mended = cache.command();
  CHECK(mended.code == 0);
  CHECK(mended.err.empty());
  CHECK(mended.out.ends_with("5 ok\n"));
  cache.flip("config.json");
  cache.hub().order({FaultKind::status, "/resolve/", -1, 0, 404});
  const Ended failed = cache.command();
  CHECK(failed.code == 1);
  CHECK(failed.err.find("config.json") != std::string::npos);
  CHECK(failed.out.find("1 wrong") != std::string::npos);
}

TEST_CASE("A repair that is killed leaves the old bytes or the right ones, and the next one ends it") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 6; ++round) {
    Damaged cache;
    cache.flip("model.safetensors");
    const std::string wrong = read_text(cache.snapshot / "model.safetensors");
    const std::string right = read_text(cache.root() / Loopback::kRepo / "model.safetensors");
    cache.hub().order({FaultKind::slow, "model.safetensors", 1, 2 << 20});
    Child child("hfcache", {"verify", "--repair"},
                {{"HF_ENDPOINT", cache.hub().url()}, {"HF_HUB_CACHE", cache.cache_root().string()}});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
    child.send(SIGKILL);
    child.wait();
    const std::string now = read_text(cache.snapshot / "model.safetensors");
    CHECK((now == wrong || now == right));
    CHECK(read_text(cache.repo_folder() / "refs/main") == cache.commit);
    cache.hub().cancel_faults();
    CHECK(cache.command().code == 0);
    CHECK(cache.is_right());
  }
}
