// A large file over several connections.
#include "cache/mirror/large_fetch.h"

#include <algorithm>
#include <chrono>

#include "cache/loopback.h"
#include "cache/mirror/download.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

constexpr const char* kModel = "model.safetensors";
constexpr std::uint64_t kSize = (40u << 20) + 12'345;
constexpr std::uint64_t kRate = 12'000'000;  // bytes a second of each connection

class Slow : public Loopback {
 public:
  explicit Slow(HubOptions options = {.bytes_per_second = kRate}) : Loopback(options) {
    put(root() / kRepo / kModel, noise(kSize, 3));
  }
  cache::DownloadReport fetch(unsigned workers = 0) {
    auto wanted = request();
    wanted.workers = workers;
    wanted.block_bytes = 1 << 20;
    cache::DownloadEvents nobody;
    return Loopback::download(wanted, nobody);
  }
  void check_right() {
    check_same_files(root() / kRepo, store().snapshot({kRepo}, "main"));
    check_no_wrong_blob(repo_folder());
    CHECK(count_leftovers(repo_folder()) == 0);
  }
};

}  // namespace

TEST_CASE("A server that limits each connection is asked for parts over several") {
  Slow slow;
  const auto report = slow.fetch();
  CHECK(report.range_parts >= 4);
  CHECK(report.resolves <= 4);
  CHECK(report.bytes_fetched <= kSize + (1u << 20));
  slow.check_right();
}

TEST_CASE("Parts go straight to where the file lies, and tell which version of it they are of") {
  Slow slow({.bytes_per_second = kRate, .redirects = true});
  const auto report = slow.fetch();
  CHECK(report.range_parts >= 4);
  std::size_t resolves = 0, parts = 0;
  for (const LoggedRequest& request : slow.hub().log()) {
    if (request.target.find("/resolve/") != std::string::npos &&
        request.target.find(kModel) != std::string::npos)
      ++resolves;
    if (!request.away || request.range.empty()) continue;
    ++parts;
    CHECK(request.headers.contains("if-range"));
    CHECK(request.authorization.empty());
  }
  CHECK(resolves == 1);
  CHECK(parts >= 4);
  slow.check_right();
}

TEST_CASE("As many connections as are allowed") {
  Slow slow;
  const auto report = slow.fetch(1);
  CHECK(report.range_parts == 0);
  CHECK(slow.client().statistics().connections <= 2);
  slow.check_right();
}

TEST_CASE("A server without ranges serves one connection") {
  Slow slow;
  slow.hub().order({FaultKind::ignored_range, kModel, -1});
  const auto report = slow.fetch();
  CHECK(report.bytes_fetched <= kSize + (2u << 20));
  slow.check_right();
}

TEST_CASE("A server whose parts break off is asked for the rest of each") {
  Slow slow({.bytes_per_second = kRate, .redirects = true});
  slow.hub().order({FaultKind::drop, "signature", 4, 3'000'000});
  const auto report = slow.fetch();
  CHECK(report.bytes_fetched <= kSize + (4u << 20));
  slow.check_right();
}

TEST_CASE("Another version at the same address is no part of the file") {
  Slow slow({.bytes_per_second = kRate, .redirects = true});
  slow.hub().order({FaultKind::changed_storage, "signature", -1});
  slow.fetch();
  slow.check_right();
}

TEST_CASE("One wrong part spoils the whole file, which is fetched once more") {
  Slow slow;
  slow.hub().order({FaultKind::wrong_content, kModel, 1});
  slow.fetch();
  slow.check_right();
}
