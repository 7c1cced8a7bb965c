// Whatever a network or a server does: never a wrong blob, the right kind of error, and the next run
// completes.
#include <sstream>

#include "cache/loopback.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

constexpr const char* kModel = "model.safetensors";

struct Case {
  const char* what;
  std::vector<Fault> faults;
  std::optional<ErrorKind> fails;  // none: the download succeeds all the same
};

void check(const Case& one) {
  CAPTURE(one.what);
  Loopback loopback({.seed = 7});
  for (const Fault& fault : one.faults) loopback.hub().order(fault);
  const Caught caught = error_of([&] { loopback.download(); });
  CAPTURE(caught.message);
  CHECK(caught.kind == one.fails);
  check_no_wrong_blob(loopback.repo_folder());
  if (one.fails) {
    CHECK_FALSE(fs::exists(loopback.repo_folder() / "refs/main"));
    loopback.hub().cancel_faults();
    loopback.download();
  }
  check_same_files(loopback.root() / Loopback::kRepo, loopback.store().snapshot({Loopback::kRepo}, "main"));
  check_no_wrong_blob(loopback.repo_folder());
  CHECK(count_leftovers(loopback.repo_folder()) == 0);
}

}  // namespace

TEST_CASE("A connection that breaks") {
  check({"before the first byte", {{FaultKind::drop, kModel, 2, 0}}, {}});
  check({"in the middle", {{FaultKind::drop, kModel, 2, 100'000}}, {}});
  check({"each time after many bytes", {{FaultKind::drop, kModel, -1, 100'000}}, {}});
  check({"each time at once", {{FaultKind::drop, kModel, -1, 0}}, ErrorKind::network});
  check({"each time after the last byte, small file", {{FaultKind::bad_chunk, "config.json", -1, 1000}}, {}});
  check({"each time after the last byte", {{FaultKind::bad_chunk, kModel, -1, 1u << 20}}, {}});
  check({"in the list of files", {{FaultKind::drop, "/tree/", 2, 10}}, {}});
  check({"in the list of files each time", {{FaultKind::drop, "/tree/", -1, 10}}, ErrorKind::network});
}

TEST_CASE("A server that stalls") {
  check({"once in a file", {{FaultKind::stall, kModel, 1, 100'000}}, {}});
  check({"once in the list", {{FaultKind::stall, "/revision/", 1, 5}}, {}});
}

TEST_CASE("A server that is busy") {
  check({"503 twice", {{FaultKind::status, "", 2, 0, 503}}, {}});
  check({"503 each time", {{FaultKind::status, "", -1, 0, 503}}, ErrorKind::network});
  check({"429 with Retry-After", {{FaultKind::status, kModel, 1, 0, 429, "Retry-After: 1"}}, {}});
  check({"429 with a day to wait",
         {{FaultKind::status, kModel, 1, 0, 429, "Retry-After: 86400"}},
         ErrorKind::network});
  check({"429 with RateLimit", {{FaultKind::status, "/tree/", 1, 0, 429, "RateLimit: \"api\";r=0;t=0"}}, {}});
  check({"408", {{FaultKind::status, kModel, 2, 0, 408}}, {}});
}

TEST_CASE("Retry-After is obeyed") {
  Loopback loopback;
  loopback.hub().order({FaultKind::status, "/tree/", 1, 0, 429, "Retry-After: 1"});
  const auto begin = std::chrono::steady_clock::now();
  loopback.download();
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::seconds(1));
}

TEST_CASE("A file of the wrong length") {
  check({"short, each time", {{FaultKind::short_file, kModel, -1, 10}}, ErrorKind::integrity});
  check({"short, once", {{FaultKind::short_file, kModel, 1, 10}}, {}});
  check({"long, each time", {{FaultKind::long_file, kModel, -1, 10}}, ErrorKind::integrity});
  check({"long, once", {{FaultKind::long_file, kModel, 1, 10}}, {}});
  check({"long, after a broken connection",
         {{FaultKind::drop, kModel, 1, 100'000}, {FaultKind::long_file, kModel, 2, 10}},
         ErrorKind::integrity});
}

TEST_CASE("A file of the right length with wrong content") {
  check({"an LFS file, once", {{FaultKind::wrong_content, kModel, 1}}, {}});
  check({"an LFS file, each time", {{FaultKind::wrong_content, kModel, -1}}, ErrorKind::integrity});
  check({"a git file, once", {{FaultKind::wrong_content, "config.json", 1}}, {}});
  check({"a git file, each time", {{FaultKind::wrong_content, "config.json", -1}}, ErrorKind::integrity});
  check({"the rest after a broken connection",
         {{FaultKind::drop, kModel, 1, 100'000}, {FaultKind::wrong_content, kModel, 2}},
         {}});
}

TEST_CASE("An etag that changes") {
  check({"once", {{FaultKind::wrong_etag, kModel, 1}}, {}});
  check({"each time", {{FaultKind::wrong_etag, kModel, -1}}, ErrorKind::integrity});
  check({"in the middle", {{FaultKind::drop, kModel, 1, 100'000}, {FaultKind::wrong_etag, kModel, 1}}, {}});
}

TEST_CASE("Ranges that are not served as asked for") {
  check({"ignored", {{FaultKind::drop, kModel, 1, 100'000}, {FaultKind::ignored_range, kModel, -1}}, {}});
  check({"ignored and broken again",
         {{FaultKind::drop, kModel, 2, 100'000}, {FaultKind::ignored_range, kModel, -1}},
         {}});
  check({"other bytes, once",
         {{FaultKind::drop, kModel, 1, 100'000}, {FaultKind::wrong_range, kModel, 1}},
         {}});
}

TEST_CASE("Redirects") {
  check({"to itself for ever", {{FaultKind::redirect_loop, kModel, -1}}, ErrorKind::network});
  check({"to itself, the list", {{FaultKind::redirect_loop, "/revision/", -1}}, ErrorKind::network});
  check({"to the storage", {{FaultKind::redirect_away, kModel, -1}}, {}});
  check({"to the storage, which breaks off",
         {{FaultKind::redirect_away, kModel, -1}, {FaultKind::drop, "signature", 2, 100'000}},
         {}});
  check({"to the storage, expired once", {{FaultKind::expired_link, kModel, 1}}, {}});
  check({"to the storage, always expired", {{FaultKind::expired_link, kModel, -1}}, ErrorKind::network});
  check({"to the storage, wrong content",
         {{FaultKind::redirect_away, kModel, -1}, {FaultKind::wrong_content, "signature", -1}},
         ErrorKind::integrity});
  check({"to a relative address with a query", {{FaultKind::redirect_here, "/resolve/", -1}}, {}});
}

TEST_CASE("Answers of the API that are cut or absurd") {
  check({"half a list", {{FaultKind::cut_json, "/tree/", -1}}, ErrorKind::integrity});
  check({"half a revision", {{FaultKind::cut_json, "/revision/", -1}}, ErrorKind::integrity});
}

TEST_CASE("Of several failures the first in list order decides and all are named") {
  Loopback loopback;
  loopback.hub().order({FaultKind::wrong_content, "config.json", -1});
  loopback.hub().order({FaultKind::wrong_content, kModel, -1});
  const Caught caught = error_of([&] { loopback.download(); });
  CHECK(caught == ErrorKind::integrity);
  CHECK(caught.says("2 files failed"));
  CHECK(caught.message.find("config.json") < caught.message.find(kModel));
  // The third one is there.
  CHECK(fs::exists(loopback.repo_folder() / "snapshots" / loopback.hub().commit(Loopback::kRepo) / "onnx"));
}

TEST_CASE("The token never leaves its origin") {
  Loopback loopback({}, "hf_secret");
  loopback.hub().gate(Loopback::kRepo, "hf_secret");
  loopback.hub().order({FaultKind::redirect_away, kModel, -1});
  loopback.hub().order({FaultKind::redirect_here, "config.json", -1});
  loopback.download();
  bool went_away = false, stayed_here = false;
  for (const LoggedRequest& request : loopback.hub().log()) {
    CAPTURE(request.target);
    CHECK(request.authorization == (request.away ? "" : "Bearer hf_secret"));
    went_away = went_away || request.away;
    stayed_here = stayed_here || request.target.starts_with("/api/resolve-cache/");
  }
  CHECK(went_away);
  CHECK(stayed_here);
}

TEST_CASE("Who may not see it") {
  Loopback loopback;
  loopback.hub().gate(Loopback::kRepo, "hf_secret");
  CHECK(error_of([&] { loopback.download(); }) == ErrorKind::denied);
  cache::Hub wrong(loopback.client(), loopback.hub().url(), "hf_other");
  CHECK(error_of([&] { wrong.commit_of({Loopback::kRepo}, "main"); }) == ErrorKind::denied);
  put(loopback.root() / "acme/off/config.json", "{}");
  loopback.hub().disable("acme/off");
  CHECK(error_of([&] { loopback.remote().commit_of({"acme/off"}, "main"); }) == ErrorKind::denied);
  const Caught absent = error_of([&] { loopback.remote().commit_of({"acme/none"}, "main"); });
  CHECK(absent == ErrorKind::not_found);
  CHECK(absent.says("acme/none"));
  loopback.hub().order({FaultKind::status, "/none/", -1, 0, 401});
  CHECK(error_of([&] { loopback.remote().commit_of({"acme/none"}, "main"); }) == ErrorKind::denied);
}

TEST_CASE("A sample of the fault campaign") {
  std::mt19937_64 random(20261130);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  constexpr FaultKind kKinds[] = {FaultKind::drop,          FaultKind::status,      FaultKind::short_file,
                                  FaultKind::long_file,     FaultKind::wrong_etag,  FaultKind::wrong_content,
                                  FaultKind::ignored_range, FaultKind::wrong_range, FaultKind::redirect_away,
                                  FaultKind::redirect_here, FaultKind::cut_json,    FaultKind::expired_link};
  for (int round = 0; round < 40; ++round) {
    Loopback loopback({.seed = random()});
    std::ostringstream told;
    const auto count = 1 + below(5);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Fault fault{kKinds[below(std::size(kKinds))], below(2) != 0 ? kModel : "",
                        static_cast<int>(1 + below(4)), below(330'000), 503};
      told << static_cast<int>(fault.kind) << '/' << fault.target << '/' << fault.times << '/' << fault.at
           << ' ';
      loopback.hub().order(fault);
    }
    CAPTURE(round);
    CAPTURE(told.str());
    for (int run = 0; run < 3; ++run) {
      error_of([&] { loopback.download(); });
      check_no_wrong_blob(loopback.repo_folder());
    }
    loopback.hub().cancel_faults();
    loopback.download();
    check_same_files(loopback.root() / Loopback::kRepo, loopback.store().snapshot({Loopback::kRepo}, "main"));
    check_no_wrong_blob(loopback.repo_folder());
    CHECK(count_leftovers(loopback.repo_folder()) == 0);
  }
}
