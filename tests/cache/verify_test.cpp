#include "cache/store/verify.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cache/loopback.h"
#include "support/as_nobody.h"
#include "support/child.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

// A downloaded revision to damage.
struct Downloaded : Loopback {
  fs::path snapshot = download();
  std::string commit = hub().commit(kRepo);

  VerifyReport verify(VerifyRequest request = {}) const {
    return cache::verify(store(), request, no_progress());
  }

  fs::path blob(const char* file) const { return fs::canonical(snapshot / file); }
  std::string etag(const char* file) const { return blob(file).filename().string(); }
  void flip(const char* file) const { flip_at(blob(file)); }
  static void flip_at(const fs::path& path) {
    fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
    std::string text = read_text(path);
    text[text.size() / 2] ^= 1;
    std::ofstream(path, std::ios::binary) << text;
  }
};

const Checked* find(const VerifyReport& report, std::string_view path) {
  for (const CheckedRepo& repo : report.repos)
    for (const Checked& file : repo.files)
      if (file.path == path) return &file;
  return nullptr;
}

Verdict verdict_of(const VerifyReport& report, std::string_view path) {
  const Checked* file = find(report, path);
  CAPTURE(path);
  REQUIRE(file != nullptr);
  CHECK(file->why.empty() == (file->verdict == Verdict::ok));
  return file->verdict;
}

bool all_ok(const VerifyReport& report) {
  for (const CheckedRepo& repo : report.repos)
    for (const Checked& file : repo.files)
      if (file.verdict != Verdict::ok) return false;
  return true;
}

}  // namespace

TEST_CASE("A downloaded revision is right, and each content is read once") {
  Downloaded cache;
  fs::create_symlink("../../blobs/" + cache.etag("config.json"), cache.snapshot / "again.json");
  fs::remove(cache.repo_folder() / "trees" / (cache.commit + ".json"));
  const VerifyReport report = cache.verify();
  CHECK(all_ok(report));
  REQUIRE(report.repos.size() == 1);
  CHECK(report.repos[0].repo == Repo{Loopback::kRepo});
  CHECK(report.count(Verdict::ok) == 5);  // four contents and a ref
  CHECK(report.bytes_read == (320 << 10) + 23 + 5);
  CHECK(find(report, "blobs/" + cache.etag("config.json"))->names.size() == 2);
}

TEST_CASE("Other bytes under a hash are wrong, whichever hash it is") {
  Downloaded cache;
  for (const char* file : {"config.json", "model.safetensors"}) {
    cache.flip(file);
    const VerifyReport report = cache.verify();
    CHECK(verdict_of(report, "blobs/" + cache.etag(file)) == Verdict::wrong);
    cache.flip(file);
  }
  CHECK(all_ok(cache.verify()));
}

TEST_CASE("Another length than the list's is wrong without being read") {
  Downloaded cache;
  fs::resize_file(cache.blob("model.safetensors"), 1000);
  const VerifyReport report = cache.verify();
  CHECK(verdict_of(report, "blobs/" + cache.etag("model.safetensors")) == Verdict::wrong);
  CHECK(report.bytes_read == 23 + 5);
}

TEST_CASE("A blob that is gone is missing") {
  Downloaded cache;
  const std::string etag = cache.etag("config.json");
  fs::remove(cache.blob("config.json"));
  const VerifyReport report = cache.verify();
  CHECK(verdict_of(report, "blobs/" + etag) == Verdict::missing);
  CHECK(find(report, "blobs/" + etag)->names == std::vector<std::string>{cache.commit + "/config.json"});
}

TEST_CASE("A blob that nothing leads to is checked too") {
  Downloaded cache;
  put(cache.repo_folder() / "blobs" / std::string(64, 'e'), "orphan");
  put(cache.repo_folder() / "blobs/odd-name", "orphan");
  put(cache.repo_folder() / "blobs" / (std::string(64, 'd') + ".12345678.incomplete"), "on its way");
  const VerifyReport report = cache.verify();
  CHECK(verdict_of(report, "blobs/" + std::string(64, 'e')) == Verdict::wrong);
  CHECK(verdict_of(report, "blobs/odd-name") == Verdict::unverifiable);
  CHECK(report.repos[0].files.size() == 7);
}

TEST_CASE("A link that leads elsewhere is wrong, one that leads nowhere is missing") {
  Downloaded cache;
  const auto relink = [&](const fs::path& target) {
    fs::remove(cache.snapshot / "config.json");
    fs::create_symlink(target, cache.snapshot / "config.json");
    return verdict_of(cache.verify(), "snapshots/" + cache.commit + "/config.json");
  };
  put(cache.cache_root() / "outside", "x");
  const fs::path model = cache.blob("model.safetensors");
  CHECK(relink(cache.cache_root() / "outside") == Verdict::wrong);
  CHECK(relink("../../../outside") == Verdict::wrong);
  CHECK(relink("config.json") == Verdict::missing);  // to itself
  CHECK(relink("../../none") == Verdict::missing);
  CHECK(relink("../../blobs/" + cache.etag("model.safetensors")) == Verdict::wrong);  // of another file
  CHECK(relink(model) == Verdict::wrong);
}

TEST_CASE("An absolute link into the repository's own blobs is as good as a relative one") {
  Downloaded cache;
  const fs::path blob = cache.blob("config.json");
  fs::remove(cache.snapshot / "config.json");
  fs::create_symlink(blob, cache.snapshot / "config.json");
  CHECK(all_ok(cache.verify()));
}

TEST_CASE("What is no file at all is wrong") {
  Downloaded cache;
  const std::string etag = cache.etag("config.json");
  fs::remove(cache.blob("config.json"));
  REQUIRE(mkfifo((cache.repo_folder() / "blobs" / etag).c_str(), 0600) == 0);
  CHECK(verdict_of(cache.verify(), "blobs/" + etag) == Verdict::wrong);  // and nothing waits for a writer
  fs::remove(cache.snapshot / "config.json");
  REQUIRE(mkfifo((cache.snapshot / "config.json").c_str(), 0600) == 0);
  CHECK(verdict_of(cache.verify(), "snapshots/" + cache.commit + "/config.json") == Verdict::wrong);
}

TEST_CASE("A blob may lead into the blobs that repositories share and nowhere else") {
  Downloaded cache;
  const fs::path blob = cache.blob("model.safetensors"), shared = cache.cache_root() / "blobs/ab/abcdef";
  fs::create_directories(shared.parent_path());
  fs::rename(blob, shared);
  put(cache.cache_root() / "blobs/.huggingface-shared-blobs", "1\n");
  put(cache.cache_root() / "blobs/ab/abcdef.refs", "models--acme--tiny/blobs/x\n");
  fs::create_symlink("../../blobs/ab/abcdef", blob);
  CHECK(all_ok(cache.verify()));
  Downloaded::flip_at(shared);
  CHECK(verdict_of(cache.verify(), "blobs/" + blob.filename().string()) == Verdict::wrong);
  Downloaded::flip_at(shared);
  fs::rename(shared, cache.cache_root() / "elsewhere");
  CHECK(verdict_of(cache.verify(), "blobs/" + blob.filename().string()) == Verdict::missing);
  fs::remove(blob);
  fs::create_symlink("../../elsewhere", blob);
  CHECK(verdict_of(cache.verify(), "blobs/" + blob.filename().string()) == Verdict::wrong);
}

TEST_CASE("Shared content that no repository has is unverifiable: its name is no hash of its bytes") {
  Downloaded cache;
  put(cache.cache_root() / "blobs/ab" / std::string(64, 'a'), "x");
  put(cache.cache_root() / "blobs/ab" / (std::string(64, 'a') + ".lock"), "");
  const VerifyReport report = cache.verify();
  CHECK(report.count(Verdict::unverifiable) == 1);
  CHECK(verdict_of(report, "ab/" + std::string(64, 'a')) == Verdict::unverifiable);
  CHECK(all_ok(cache.verify({.repos = {{Loopback::kRepo}}})));
}

TEST_CASE("Copies instead of links are judged by the revision's list") {
  Downloaded cache;
  for (const char* file : {"config.json", "model.safetensors"}) {
    const fs::path blob = cache.blob(file);
    fs::remove(cache.snapshot / file);
    fs::rename(blob, cache.snapshot / file);
  }
  CHECK(all_ok(cache.verify()));
  Downloaded::flip_at(cache.snapshot / "model.safetensors");
  CHECK(verdict_of(cache.verify(), "snapshots/" + cache.commit + "/model.safetensors") == Verdict::wrong);
  fs::remove(cache.repo_folder() / "trees" / (cache.commit + ".json"));
  const VerifyReport report = cache.verify();
  CHECK(verdict_of(report, "snapshots/" + cache.commit + "/model.safetensors") == Verdict::unverifiable);
  CHECK(report.count(Verdict::wrong) == 0);
}

TEST_CASE("A file that is not on the revision's list is unverifiable") {
  Downloaded cache;
  put(cache.snapshot / "mine.txt", "x");
  CHECK(verdict_of(cache.verify(), "snapshots/" + cache.commit + "/mine.txt") == Verdict::unverifiable);
}

TEST_CASE("Files that were never downloaded are missing only where all are asked for") {
  Loopback loopback;
  auto request = loopback.request();
  request.selection.include = {"config.*"};
  loopback.download(request);
  const VerifyReport report = verify(loopback.store(), {}, no_progress());
  CHECK(all_ok(report));
  CHECK(report.repos[0].left_out.at(loopback.hub().commit(Loopback::kRepo)) == 3);
  CHECK(verify(loopback.store(), {.complete = true}, no_progress()).count(Verdict::missing) == 3);
}

TEST_CASE("A ref that clients cannot read is wrong, one to a revision that is gone is missing") {
  Downloaded cache;
  put(cache.repo_folder() / "refs/newline", cache.commit + "\n");
  put(cache.repo_folder() / "refs/torn", cache.commit.substr(0, 20));
  put(cache.repo_folder() / "refs/empty", "");
  put(cache.repo_folder() / "refs/refs/pr/1", std::string(40, 'd'));
  put(cache.repo_folder() / "trees" / (std::string(40, 'd') + ".json"),
      R"({"format_version": 1, "files": {}})");
  put(cache.repo_folder() / "refs/of-local-dir",
      std::string(40, 'e'));  // as a download into a folder leaves it
  put(cache.repo_folder() / "refs/main.0123abcd.tmp", "on its way");
  const VerifyReport report = cache.verify();
  CHECK(verdict_of(report, "refs/main") == Verdict::ok);
  for (const char* ref : {"refs/newline", "refs/torn", "refs/empty"})
    CHECK(verdict_of(report, ref) == Verdict::wrong);
  CHECK(verdict_of(report, "refs/refs/pr/1") == Verdict::missing);
  CHECK(verdict_of(report, "refs/of-local-dir") == Verdict::unverifiable);
  CHECK(report.repos[0].files.size() == 10);
}

TEST_CASE("A list that is none is wrong, and its revision is judged without it") {
  Downloaded cache;
  put(cache.repo_folder() / "trees" / (cache.commit + ".json"), "{\"format_version\": 1, \"files\": {");
  cache.flip("config.json");
  const VerifyReport report = cache.verify();
  CHECK(verdict_of(report, "trees/" + cache.commit + ".json") == Verdict::wrong);
  CHECK(verdict_of(report, "blobs/" + cache.etag("config.json")) == Verdict::wrong);
  CHECK(report.count(Verdict::wrong) == 2);
}

TEST_CASE("The sha256 that was noted of a git file is held against it") {
  Downloaded cache;
  const std::string etag = cache.etag("config.json");
  const std::string text = read_text(cache.blob("config.json"));
  const std::string sha256 = sha256_hex(std::as_bytes(std::span(text)));
  const fs::path notes = cache.cache_root() / ".locks/models--acme--tiny/sha256";
  put(notes, etag + " " + sha256 + "\n");
  CHECK(all_ok(cache.verify()));
  put(notes, "torn\n" + etag + " " + std::string(64, '0') + "\n" + etag + " 12");
  CHECK(verdict_of(cache.verify(), "blobs/" + etag) == Verdict::wrong);
}

TEST_CASE("Only what a revision needs is looked at where one is named") {
  Downloaded cache;
  put(cache.repo_folder() / "blobs" / std::string(64, 'e'), "orphan");
  put(cache.repo_folder() / "refs/torn", "x");
  const std::vector<Repo> repo = {{Loopback::kRepo}};
  CHECK(all_ok(cache.verify({.repos = repo, .revision = "main"})));
  CHECK(all_ok(cache.verify({.repos = repo, .revision = cache.commit})));
  CHECK(verdict_of(cache.verify({.repos = repo, .revision = "torn"}), "refs/torn") == Verdict::wrong);
  CHECK(error_of([&] { cache.verify({.repos = repo, .revision = "none"}); }) == ErrorKind::not_found);
  CHECK(error_of([&] { cache.verify({.repos = {{"acme/none"}}}); }) == ErrorKind::not_found);
}

TEST_CASE("What was right before is read again only when it has changed") {
  Downloaded cache;
  cache.flip("config.json");
  const VerifyReport before = cache.verify();
  const VerifyReport after = cache.verify({.before = &before});
  CHECK(after.bytes_read == 23);
  CHECK(after.count(Verdict::wrong) == 1);
  CHECK(after.count(Verdict::ok) == before.count(Verdict::ok));
  cache.flip("model.safetensors");
  CHECK(cache.verify({.before = &before}).count(Verdict::wrong) == 2);
}

TEST_CASE("Access times of blobs stay as they were") {
  Downloaded cache;
  const fs::path blob = cache.blob("model.safetensors");
  const timespec times[] = {{1'000'000, 0}, {2'000'000, 0}};
  REQUIRE(utimensat(AT_FDCWD, blob.c_str(), times, 0) == 0);
  CHECK(all_ok(cache.verify()));
  struct stat info {};
  REQUIRE(stat(blob.c_str(), &info) == 0);
  CHECK(info.st_atim.tv_sec == 1'000'000);
}

TEST_CASE("A blob that may not be read is unverifiable") {
  Downloaded cache;
  const std::string etag = cache.etag("config.json");
  fs::permissions(cache.repo_folder().parent_path().parent_path(), fs::perms(0755));
  fs::permissions(cache.repo_folder() / "blobs" / etag, fs::perms::none);
  CHECK(as_nobody([&] {
          return verdict_of(cache.verify(), "blobs/" + etag) == Verdict::unverifiable ? 0 : 1;
        }) == 0);
}

TEST_CASE("An empty cache and one that does not exist are right") {
  const TempDir dir;
  CHECK(verify(Store(dir.path()), {}, no_progress()).repos.empty());
  CHECK(verify(Store(dir / "none"), {}, no_progress()).repos.empty());
}

TEST_CASE("A folder that was downloaded into is judged by the notes in it") {
  const TempDir dir;
  const std::string commit(40, 'c'), text = "{}\n", weights = noise(3000, 1);
  const auto note = [&](const std::string& path, const std::string& etag) {
    put(dir / ".cache/huggingface/download" / (path + ".metadata"),
        commit + "\n" + etag + "\n1700000000.5\n");
  };
  put(dir / "config.json", text);
  put(dir / "sub/model.bin", weights);
  put(dir / "mine.txt", "x");
  put(dir / ".git/HEAD", "x");
  note("config.json", "0967ef424bce6791893e9a57bb952f80fd536e93");
  note("sub/model.bin", sha256_hex(std::as_bytes(std::span(weights))));
  note("gone", std::string(40, 'a'));
  put(dir / ".cache/huggingface/download/odd.metadata", commit + "\nno hash\n1\n");
  const VerifyReport report = verify_folder(dir.path(), {}, no_progress());
  CHECK(verdict_of(report, "config.json") == Verdict::ok);
  CHECK(verdict_of(report, "sub/model.bin") == Verdict::ok);
  CHECK(verdict_of(report, "gone") == Verdict::missing);
  CHECK(verdict_of(report, "mine.txt") == Verdict::unverifiable);
  CHECK(verdict_of(report, ".cache/huggingface/download/odd.metadata") == Verdict::unverifiable);
  CHECK(report.repos[0].files.size() == 5);
  Downloaded::flip_at(dir / "sub/model.bin");
  CHECK(verdict_of(verify_folder(dir.path(), {}, no_progress()), "sub/model.bin") == Verdict::wrong);
}

TEST_CASE("The list of a folder's revision vouches for files whose notes were lost") {
  const TempDir dir;
  const std::string commit(40, 'c');
  put(dir / "config.json", "{}\n");
  put(dir / ".cache/huggingface/trees" / (commit + ".json"),
      R"({"format_version": 1, "files": {"config.json": {"size": 3, "blob_id": "0967ef424bce6791893e9a57bb952f80fd536e93"},
         "other": {"size": 3, "blob_id": "0967ef424bce6791893e9a57bb952f80fd536e93"}}})");
  const VerifyReport report = verify_folder(dir.path(), {}, no_progress());
  CHECK(all_ok(report));
  CHECK(report.repos[0].left_out.at(commit) == 1);
  CHECK(verdict_of(verify_folder(dir.path(), {.complete = true}, no_progress()), "other") ==
        Verdict::missing);
  put(dir / "config.json", "{ }\n");
  CHECK(verdict_of(verify_folder(dir.path(), {}, no_progress()), "config.json") == Verdict::wrong);
}

TEST_CASE("A folder without notes cannot be judged at all") {
  const TempDir dir;
  CHECK(error_of([&] { verify_folder(dir.path(), {}, no_progress()); }) == ErrorKind::not_found);
}

TEST_CASE("hfcache verify exits with 1 for what is wrong, and with --strict for what nobody can tell") {
  Downloaded cache;
  const auto verify = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "verify");
    return run("hfcache", arguments,
               {{"HF_HUB_CACHE", cache.cache_root().string()}, {"HF_HUB_OFFLINE", "1"}});
  };
  CHECK(verify({}).code == 0);
  CHECK(verify({}).out == "5 files, 327.7 kB read: 5 ok\n");
  put(cache.snapshot / "mine\x1b.txt", "x");
  CHECK(verify({}).code == 0);
  CHECK(verify({"--strict"}).code == 1);
  cache.flip("config.json");
  const Ended table = verify({"acme/tiny"});
  CHECK(table.code == 1);
  CHECK(table.out.starts_with("VERDICT"));
  CHECK(table.out.find('\x1b') == std::string::npos);
  CHECK(table.out.find(cache.commit.substr(0, 12) + "/config.json") != std::string::npos);
  const Ended json = verify({"--json", "-j", "1"});
  CHECK(json.code == 1);
  const auto report = nlohmann::json::parse(json.out);
  CHECK(report["summary"]["wrong"] == 1);
  CHECK(report["summary"]["ok"] == 4);
  CHECK(report["files"].size() == 6);
  CHECK(verify({"--revision", "main"}).code == 2);
  CHECK(verify({"--local-dir", "x", "acme/tiny"}).code == 2);
  CHECK(verify({"acme/none"}).code == 3);
  CHECK(verify({"--cache-dir", "/no/such/folder"}).code == 3);
}
