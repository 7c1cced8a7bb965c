// hfcache as a process: killed in the middle, interrupted, two of them at once.
#include <chrono>
#include <thread>

#include "cache/loopback.h"
#include "cache/mirror/journal.h"
#include "support/child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kSize = 4 << 20;
constexpr std::uint64_t kBlock = 256 << 10;

class Killed {
 public:
  Killed() {
    const std::string content = noise(kSize, 3);
    put(loopback_.root() / "acme/tiny/model.safetensors", content);
    etag_ = sha256_hex(std::as_bytes(std::span(content)));
  }

  Loopback& loopback() { return loopback_; }
  fs::path blobs() const { return loopback_.repo_folder() / "blobs"; }
  fs::path blob() const { return blobs() / etag_; }
  std::uint64_t served() const { return loopback_.hub().bytes_served("model.safetensors"); }

  Child start() {
    return Child("hfcache", {"download", Loopback::kRepo, "--checkpoint-bytes", std::to_string(kBlock)},
                 {{"HF_ENDPOINT", loopback_.hub().url()}, {"HF_HUB_CACHE", loopback_.cache_root().string()}});
  }

  // What the journal of the partial file vouches for; 0 where there is none.
  std::uint64_t vouched() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(blobs(), error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(etag_) || !name.ends_with(".journal")) continue;
      const auto journal = cache::parse_journal(read_text(entry.path()));
      return journal ? journal->vouched_bytes() : 0;
    }
    return 0;
  }

  void wait_until_served(std::uint64_t bytes) const {
    for (int i = 0; i < 3000 && served() < bytes; ++i) std::this_thread::sleep_for(5ms);
    REQUIRE(served() >= bytes);
  }

  // The Range of the last request for the file; 0 where it asked for all.
  std::uint64_t last_start() const {
    std::uint64_t start = 0;
    for (const LoggedRequest& request : loopback_.hub().log())
      if (request.target.ends_with("model.safetensors"))
        start = request.range.empty() ? 0 : std::stoull(request.range.substr(6));
    return start;
  }

 private:
  mutable Loopback loopback_;
  std::string etag_;
};

}  // namespace

TEST_CASE("Killed at three points the rerun fetches no byte again that was made durable") {
  Killed killed;
  FaultHub& hub = killed.loopback().hub();
  hub.order({FaultKind::slow, "model.safetensors", -1, 3 << 20});
  std::uint64_t expected_start = 0;
  for (const std::uint64_t point : {kSize / 4, kSize / 2, kSize * 3 / 4}) {
    CAPTURE(point);
    const std::uint64_t before = killed.served();
    {
      Child child = killed.start();
      killed.wait_until_served(before + point - expected_start);
      child.send(SIGKILL);
      CHECK(child.wait().code == 128 + SIGKILL);
    }
    CHECK(killed.last_start() == expected_start);
    CHECK_FALSE(fs::exists(killed.blob()));
    CHECK_FALSE(fs::exists(killed.loopback().repo_folder() / "refs/main"));
    check_no_wrong_blob(killed.loopback().repo_folder());
    CHECK(killed.vouched() > expected_start);
    CHECK(killed.vouched() + 4 * kBlock >= point);  // what was in sockets, and the block under way
    expected_start = killed.vouched();
  }
  hub.cancel_faults();
  hub.clear_log();
  const Ended ended = killed.start().wait();
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  CHECK(killed.last_start() == expected_start);
  CHECK(killed.served() == kSize - expected_start);
  CHECK(ended.out == killed.loopback().store().snapshot({Loopback::kRepo}, "main").string() + "\n");
  check_same_files(killed.loopback().root() / Loopback::kRepo, ended.out.substr(0, ended.out.size() - 1));
  check_no_wrong_blob(killed.loopback().repo_folder());
  CHECK(count_leftovers(killed.loopback().repo_folder()) == 0);
}

TEST_CASE("A sample of kills at any moment") {
  Killed killed;
  std::mt19937_64 random(42);
  killed.loopback().hub().order({FaultKind::slow, "model.safetensors", -1, 20 << 20});
  for (int i = 0; i < 20; ++i) {
    Child child = killed.start();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    child.send(SIGKILL);
    child.wait();
    check_no_wrong_blob(killed.loopback().repo_folder());
    std::error_code error;
    for (const auto& ref : fs::directory_iterator(killed.loopback().repo_folder() / "refs", error))
      CHECK(ref.path().filename() == "main");
    if (fs::exists(killed.loopback().repo_folder() / "refs/main"))
      check_same_files(killed.loopback().root() / Loopback::kRepo,
                       killed.loopback().store().snapshot({Loopback::kRepo}, "main"));
  }
  CHECK(killed.start().wait().code == 0);
  check_same_files(killed.loopback().root() / Loopback::kRepo,
                   killed.loopback().store().snapshot({Loopback::kRepo}, "main"));
  CHECK(count_leftovers(killed.loopback().repo_folder()) == 0);
}

TEST_CASE("Interrupted and terminated end in 130 and 143 and keep what has come") {
  for (const int signal : {SIGINT, SIGTERM}) {
    Killed killed;
    killed.loopback().hub().order({FaultKind::slow, "model.safetensors", -1, 2 << 20});
    Child child = killed.start();
    killed.wait_until_served(kSize / 4);
    child.send(signal);
    const Ended ended = child.wait();
    CHECK(ended.code == 128 + signal);
    CHECK(ended.err == "hfcache: interrupted\n");
    CHECK(killed.vouched() >= kSize / 4 - kBlock);
    check_no_wrong_blob(killed.loopback().repo_folder());
  }
}

TEST_CASE("A partial file of a living process is left alone") {
  Killed killed;
  killed.loopback().hub().order({FaultKind::slow, "model.safetensors", 1, 2 << 20});
  Child first = killed.start();
  killed.wait_until_served(kSize / 4);
  Child second = killed.start();  // waits for the first one's lock
  const Ended first_end = first.wait(), second_end = second.wait();
  CHECK(first_end.code == 0);
  CHECK(second_end.code == 0);
  CHECK(killed.served() == kSize);
  check_no_wrong_blob(killed.loopback().repo_folder());
}

TEST_CASE("Without working locks two processes do the work twice and spoil nothing") {
  Killed killed;
  killed.loopback().hub().order({FaultKind::slow, "model.safetensors", -1, 4 << 20});
  Child first = killed.start();
  killed.wait_until_served(kSize / 4);
  fs::remove_all(killed.loopback().cache_root() / ".locks");  // the second one locks another file
  Child second = killed.start();
  CHECK(first.wait().code == 0);
  CHECK(second.wait().code == 0);
  CHECK(killed.served() > kSize);
  check_no_wrong_blob(killed.loopback().repo_folder());
  CHECK(count_leftovers(killed.loopback().repo_folder()) == 0);
}
