// Another cache, as a courier brings one.
#include "cache/adoption.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("Another cache is merged: revisions, refs, lists and absences") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  const std::string commit = snapshot.filename().string();
  put(loopback.repo_folder() / "refs/refs/pr/1", commit);
  put(loopback.repo_folder() / ".no_exist" / commit / "added_tokens.json", "");
  const TempDir dir;
  const Store store(dir.path());
  const auto merge = [&](const fs::path& path, AdoptRequest request = {}) {
    const AdoptPlan plan = plan_adopt(path, store, request, nullptr, no_progress());
    adopt(plan, store, request.mode, no_progress());
    return plan.is_whole();
  };
  const fs::path home = dir / "models--acme--tiny";
  SUBCASE("as a whole") { CHECK(merge(loopback.cache_root())); }
  SUBCASE("one repository of it") { CHECK(merge(loopback.repo_folder())); }
  SUBCASE("one revision of it") { CHECK(merge(snapshot)); }
  SUBCASE("copied with its links followed, without blobs") {
    fs::copy(snapshot, dir / "flat", fs::copy_options::recursive);
    fs::remove_all(snapshot);
    fs::rename(dir / "flat", snapshot);
    fs::remove_all(loopback.repo_folder() / "blobs");
    CHECK(merge(loopback.cache_root()));
  }
  SUBCASE("moved") {
    CHECK(merge(loopback.cache_root(), {.mode = AdoptMode::move}));
    CHECK_FALSE(fs::exists(loopback.repo_folder() / "blobs"));
    CHECK_FALSE(fs::exists(loopback.repo_folder() / "snapshots"));
  }
  check_same_files(loopback.root() / Loopback::kRepo, home / "snapshots" / commit);
  CHECK(read_text(home / "refs/main") == commit);
  CHECK(read_text(home / "refs/refs/pr/1") == commit);
  CHECK(fs::exists(home / ".no_exist" / commit / "added_tokens.json"));
  const VerifyReport report = verify(store, {.complete = true}, no_progress());
  CHECK(report.count(Verdict::ok) == 6);
  CHECK(report.count(Verdict::wrong) + report.count(Verdict::missing) + report.count(Verdict::unverifiable) ==
        0);
  CHECK(error_of([&] { merge(dir.path()); }) == ErrorKind::usage);  // into itself
}

TEST_CASE("A revision of another cache that is damaged is refused, the others are taken") {
  Loopback loopback;
  put(loopback.root() / "acme/tiny@v2/config.json", "{\"v\": 2}");
  const fs::path snapshot = loopback.download();
  auto request = loopback.request();
  request.revision = "v2";
  loopback.download(request);
  SUBCASE("another content") {
    const fs::path blob = fs::canonical(snapshot / "config.json");
    std::string text = read_text(blob);
    text[0] ^= 1;
    put(blob, text);
  }
  SUBCASE("a content that is gone") { fs::remove(fs::canonical(snapshot / "config.json")); }
  SUBCASE("a link that leads out") {
    put(loopback.cache_root().parent_path() / "secret", "x");
    fs::remove(snapshot / "config.json");
    fs::create_symlink("../../../../secret", snapshot / "config.json");
  }
  const TempDir dir;
  const Store store(dir.path());
  const AdoptPlan plan = plan_adopt(loopback.cache_root(), store, {}, nullptr, no_progress());
  adopt(plan, store, AdoptMode::move, no_progress());
  CHECK_FALSE(plan.is_whole());
  CHECK(fs::exists(dir / "models--acme--tiny/refs/v2"));
  CHECK_FALSE(fs::exists(dir / "models--acme--tiny/refs/main"));
  CHECK(fs::exists(snapshot / "model.safetensors"));  // and nothing of the repository has gone
}
