// What a download asks of the Hub, and what it tells while it runs.
#include "cache/mirror/scheduler.h"

#include <chrono>
#include <set>

#include "cache/loopback.h"
#include "cache/mirror/download.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kModel = "model.safetensors";

// Writes down what a download tells.
class Log : public cache::DownloadEvents {
 public:
  void file_started(const cache::TreeFile& file, std::uint64_t resumed) override {
    started.insert(file.path);
    bytes[file.path] += static_cast<std::int64_t>(resumed);
    resumed_bytes += resumed;
  }
  void advanced(const cache::TreeFile& file, std::uint64_t count) override {
    bytes[file.path] += static_cast<std::int64_t>(count);
  }
  void file_restarted(const cache::TreeFile& file, std::uint64_t lost, std::string_view) override {
    bytes[file.path] -= static_cast<std::int64_t>(lost);
    ++restarts;
  }
  void retrying(const cache::TreeFile*, std::chrono::milliseconds wait, std::string_view) override {
    waits.push_back(wait);
  }
  void file_done(const cache::TreeFile& file, std::string_view sha256) override { done[file.path] = sha256; }
  void warned(std::string_view message) override { warnings.emplace_back(message); }

  std::set<std::string> started;
  std::map<std::string, std::int64_t> bytes;
  std::map<std::string, std::string> done;
  std::vector<std::chrono::milliseconds> waits;
  std::vector<std::string> warnings;
  std::uint64_t resumed_bytes = 0;
  int restarts = 0;
};

std::size_t count_of(FaultHub& hub, std::string_view part) {
  std::size_t count = 0;
  for (const LoggedRequest& request : hub.log()) count += request.target.find(part) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("Each file is told from its start to its end, with the sha256 of git files too") {
  Loopback loopback;
  Log log;
  const auto report = loopback.download(loopback.request(), log);
  CHECK(log.done.size() == 4);
  CHECK(log.started.size() == 4);
  for (const auto& [path, sha256] : log.done) {
    const std::string text = read_text(loopback.root() / Loopback::kRepo / path);
    CHECK(sha256 == sha256_hex(std::as_bytes(std::span(text))));
    CHECK(log.bytes[path] == static_cast<std::int64_t>(text.size()));
  }
  CHECK(report.bytes_fetched == (320u << 10) + 28);
  CHECK(log.restarts == 0);
}

TEST_CASE("A branch costs one question for its commit, one for its files and one a missing file") {
  Loopback loopback({.page_size = 3});
  const auto report = [&] {
    Log log;
    return loopback.download(loopback.request(), log);
  }();
  CHECK(count_of(loopback.hub(), "/revision/") == 1);
  CHECK(count_of(loopback.hub(), "/tree/") == 2);
  CHECK(report.api_requests == 3);
  CHECK(report.resolves == 3);  // the empty file needs none
  CHECK(report.range_parts == 0);
  CHECK(report.re_resolves == 0);
  CHECK(loopback.hub().log().size() == 6);
}

TEST_CASE("A commit costs no question for itself") {
  Loopback loopback;
  auto request = loopback.request();
  request.revision = loopback.hub().commit(Loopback::kRepo);
  loopback.download(request);
  CHECK(count_of(loopback.hub(), "/revision/") == 0);
  CHECK(count_of(loopback.hub(), "/tree/") == 1);
}

TEST_CASE("Named files cost one question and no list of all") {
  Loopback loopback;
  auto request = loopback.request();
  request.selection.files = {"config.json", kModel, "config.json"};
  Log log;
  const auto report = loopback.download(request, log);
  CHECK(count_of(loopback.hub(), "/tree/") == 0);
  CHECK(count_of(loopback.hub(), "/paths-info/") == 1);
  CHECK(report.resolves == 2);
  CHECK(log.done.size() == 2);
  // Nobody knows all files of the revision then.
  CHECK_FALSE(fs::exists(loopback.repo_folder() / "trees"));
  // More than 50 of them, or a folder, are chosen from the list.
  request.selection.files = {"onnx/"};
  loopback.download(request);
  CHECK(count_of(loopback.hub(), "/tree/") == 1);
}

TEST_CASE("That a revision has no such file is remembered when the Hub says so") {
  Loopback loopback;
  const fs::path absent = loopback.repo_folder() / ".no_exist" / loopback.hub().commit(Loopback::kRepo);
  auto request = loopback.request();
  request.selection.files = {"config.json", "added_tokens.json"};
  const Caught caught = error_of([&] { loopback.download(request); });
  CHECK(caught == ErrorKind::not_found);
  CHECK(caught.says("added_tokens.json"));
  CHECK(fs::exists(absent / "added_tokens.json"));
  CHECK_FALSE(fs::exists(absent / "config.json"));

  loopback.hub().order({FaultKind::status, "/resolve/", 1, 0, 404});
  request.selection.files = {"other.json"};
  CHECK(error_of([&] { loopback.download(request); }) == ErrorKind::not_found);
  CHECK_FALSE(fs::exists(absent / "other.json"));
}

TEST_CASE("Redirects and renewed addresses are counted apart") {
  Loopback loopback;
  loopback.hub().order({FaultKind::redirect_away, kModel, -1});
  Log log;
  const auto report = loopback.download(loopback.request(), log);
  CHECK(report.resolves == 3);
  CHECK(report.redirects == 1);
  CHECK(report.re_resolves == 0);

  Loopback expiring;
  expiring.hub().order({FaultKind::expired_link, kModel, 1});
  const auto renewed = expiring.download(expiring.request(), log);
  CHECK(renewed.re_resolves == 1);
}

TEST_CASE("A server that wants to be left alone is not asked by the other files either") {
  Loopback loopback;
  for (int i = 0; i < 6; ++i)
    put(loopback.root() / "acme/tiny" / ("f" + std::to_string(i)), std::to_string(i));
  auto request = loopback.request();
  request.workers = 1;
  loopback.hub().order({FaultKind::status, "/resolve/", 1, 0, 429, "Retry-After: 1"});
  Log log;
  const auto begin = std::chrono::steady_clock::now();
  loopback.download(request, log);
  CHECK(std::chrono::steady_clock::now() - begin >= 1s);
  REQUIRE(log.waits.size() == 1);
  CHECK(log.waits[0] >= 1s);
}

TEST_CASE("A connection that breaks costs no byte twice") {
  for (const std::uint64_t large : {64u << 10, 1u << 20}) {  // with and without a journal
    Loopback loopback;
    loopback.hub().order({FaultKind::drop, kModel, 3, 100'000});
    auto request = loopback.request();
    request.large_bytes = large;
    Log log;
    const auto report = loopback.download(request, log);
    CHECK(report.bytes_fetched == (320u << 10) + 28);
    CHECK(log.waits.size() == 3);
    CHECK(log.bytes[kModel] == 320 << 10);
  }
}

TEST_CASE("A later run tells what it goes on from") {
  Loopback loopback;
  loopback.hub().order({FaultKind::drop, kModel, -1, 0});
  loopback.hub().order({FaultKind::drop, kModel, 1, 100'000});
  // The first order counts first: nothing arrives.
  CHECK(error_of([&] { loopback.download(); }) == ErrorKind::network);
  loopback.hub().cancel_faults();
  loopback.hub().order({FaultKind::stall, kModel, -1, 50'000});
  CHECK(error_of([&] { loopback.download(); }) == ErrorKind::network);
  loopback.hub().cancel_faults();
  Log log;
  const auto report = loopback.download(loopback.request(), log);
  CHECK(log.resumed_bytes > 40'000);
  CHECK(report.bytes_resumed == log.resumed_bytes);
  CHECK(report.bytes_fetched + report.bytes_resumed <= (320u << 10) + 28);
  CHECK(log.bytes[kModel] == 320 << 10);
}

TEST_CASE("Who was taken for dead begins a new file and leaves the old one to who took it") {
  class Thief : public Log {
   public:
    explicit Thief(fs::path blobs) : blobs_(std::move(blobs)) {}
    void retrying(const cache::TreeFile*, std::chrono::milliseconds, std::string_view) override {
      for (const auto& entry : fs::directory_iterator(blobs_))
        if (entry.path().extension() == ".part") fs::rename(entry.path(), blobs_ / "taken");
    }

   private:
    fs::path blobs_;
  };
  Loopback loopback;
  loopback.hub().order({FaultKind::drop, kModel, 1, 100'000});
  Thief thief(loopback.repo_folder() / "blobs");
  loopback.download(loopback.request(), thief);
  CHECK(thief.restarts == 1);
  CHECK(fs::file_size(loopback.repo_folder() / "blobs/taken") == 100'000);
  fs::remove(loopback.repo_folder() / "blobs/taken");
  check_same_files(loopback.root() / Loopback::kRepo, loopback.store().snapshot({Loopback::kRepo}, "main"));
  check_no_wrong_blob(loopback.repo_folder());
}

TEST_CASE("What is not the file is fetched anew and told") {
  Loopback loopback;
  loopback.hub().order({FaultKind::wrong_content, kModel, 1});
  loopback.hub().order({FaultKind::wrong_content, "config.json", 1});
  Log log;
  loopback.download(loopback.request(), log);
  CHECK(log.restarts == 2);
  CHECK(log.bytes[kModel] == 320 << 10);
}

TEST_CASE("What huggingface_hub left of a file is gone on with, if it is right in the end") {
  for (const bool right : {true, false}) {
    CAPTURE(right);
    Loopback loopback;
    const std::string content = read_text(loopback.root() / Loopback::kRepo / kModel);
    const std::string etag = sha256_hex(std::as_bytes(std::span(content)));
    const fs::path left = loopback.repo_folder() / "blobs" / (etag + ".incomplete");
    put(left, right ? content.substr(0, 200'000) : std::string(200'000, 'x'));
    Log log;
    const auto report = loopback.download(loopback.request(), log);
    CHECK(report.bytes_fetched == (right ? (320u << 10) - 200'000 + 28 : (640u << 10) - 200'000 + 28));
    CHECK(log.restarts == (right ? 0 : 1));
    CHECK(fs::exists(left));
    check_no_wrong_blob(loopback.repo_folder());
  }
}

TEST_CASE("A file whose lock another process holds is waited for while the others are fetched") {
  Loopback loopback;
  loopback.download();
  const std::string content = read_text(loopback.root() / Loopback::kRepo / kModel);
  const std::string etag = sha256_hex(std::as_bytes(std::span(content)));
  const fs::path blob = loopback.repo_folder() / "blobs" / etag;
  fs::remove(blob);
  const fs::path lock = loopback.cache_root() / ".locks/models--acme--tiny" / (etag + ".lock");
  auto request = loopback.request();
  request.timings.lock_poll = 5ms;

  SUBCASE("until it is free") {
    std::optional<cache::FileLock> held(lock);
    loopback.client().after(100ms, [&] { held.reset(); });
    Log log;
    const auto begin = std::chrono::steady_clock::now();
    loopback.download(request, log);
    CHECK(std::chrono::steady_clock::now() - begin >= 90ms);
    CHECK(log.warnings.empty());
  }
  SUBCASE("until its content is there, which is not fetched again") {
    std::optional<cache::FileLock> held(lock);
    loopback.client().after(50ms, [&] {
      put(blob, read_text(loopback.root() / Loopback::kRepo / kModel));
      held.reset();
    });
    loopback.hub().clear_log();
    Log log;
    loopback.download(request, log);
    CHECK(loopback.hub().bytes_served(kModel) == 0);
    CHECK(log.done.contains(kModel));
  }
  SUBCASE("until its holder has made no progress for long") {
    const cache::FileLock held(lock);
    request.timings.lock_patience = 50ms;
    Log log;
    loopback.download(request, log);
    REQUIRE(log.warnings.size() == 1);
    CHECK(log.warnings[0].find(kModel) != std::string::npos);
  }
  check_same_files(loopback.root() / Loopback::kRepo, loopback.store().snapshot({Loopback::kRepo}, "main"));
}

TEST_CASE("Several repositories follow each other on one client") {
  Loopback loopback;
  put(loopback.root() / "acme/second/a.txt", "a");
  loopback.download();
  auto request = loopback.request();
  request.repo.id = "acme/second";
  const std::uint64_t before = loopback.client().statistics().connections;
  loopback.download(request);
  CHECK(loopback.client().statistics().connections == before);
}

TEST_CASE("Many files take few connections and few flushes") {
  Loopback loopback;
  for (int i = 0; i < 300; ++i)
    put(loopback.root() / "acme/tiny/many" / std::to_string(i), noise(2000, static_cast<std::uint64_t>(i)));
  auto request = loopback.request();
  request.workers = 0;
  Log log;
  const auto report = loopback.download(request, log);
  CHECK(log.done.size() == 304);
  CHECK(report.resolves == 303);
  CHECK(loopback.client().statistics().connections <= 64);
  check_same_files(loopback.root() / Loopback::kRepo, report.path);
  CHECK(count_leftovers(loopback.repo_folder()) == 0);
}
