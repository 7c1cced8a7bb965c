#include "cache/mirror/publisher.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "support/temp_dir.h"

using namespace hf;
using namespace hf::cache;
using namespace hf::test;

namespace {

// Writes down what is asked of it.
class LoggedTarget final : public Target {
 public:
  FileState state_of(const TreeFile&) const override { return FileState::missing; }
  std::filesystem::path parts() const override { return ""; }
  std::optional<FileLock> try_lock(const TreeFile&) const override { return std::nullopt; }
  void link(const TreeFile& file) override { log.push_back("link " + file.path); }
  void place(const std::filesystem::path& part, std::span<const TreeFile* const> links,
             std::string_view sha256) override {
    if (part == broken) throw Error(ErrorKind::io, "broken");
    log.push_back("place " + part.string() + " " + std::to_string(links.size()) + " " + std::string(sha256));
  }
  void sync() const override {
    log.push_back("sync");
    std::this_thread::sleep_for(slowness);
    if (sync_fails) throw Error(ErrorKind::io, "no disk");
  }
  void prepare() override {}
  bool is_finished(std::string_view) const override { return false; }
  std::filesystem::path path() const override { return ""; }
  std::filesystem::path finish(std::string_view) override { return ""; }

  mutable std::vector<std::string> log;
  std::filesystem::path broken = "none";
  std::chrono::milliseconds slowness{0};
  bool sync_fails = false;
};

struct Published {
  LoggedTarget target;
  std::vector<std::pair<std::size_t, bool>> done;  // job, and whether it is named
  const TreeFile file{"m.bin", 1};

  VerifiedFile verified(std::size_t job, std::string part) const {
    VerifiedFile made{.job = job};
    made.part = std::move(part);
    made.links = {&file};
    made.sha256 = "abc";
    return made;
  }
  // Hands over the batches one after the other and waits until all is done.
  void run(std::vector<std::vector<VerifiedFile>> batches) {
    Publisher publisher(target, [this](std::vector<VerifiedFile> files) {
      for (const VerifiedFile& one : files) {
        target.log.push_back("done " + std::to_string(one.job));
        done.emplace_back(one.job, !one.failure);
      }
    });
    for (auto& batch : batches) publisher.add(std::move(batch));
  }
};

std::vector<VerifiedFile> batch_of(VerifiedFile one) {
  std::vector<VerifiedFile> files;
  files.push_back(std::move(one));
  return files;
}

std::vector<std::vector<VerifiedFile>> batches_of(VerifiedFile one) {
  std::vector<std::vector<VerifiedFile>> batches;
  batches.push_back(batch_of(std::move(one)));
  return batches;
}

}  // namespace

TEST_CASE("Bytes are on the disk before their names are given, and those before a file is told done") {
  Published published;
  published.run(batches_of(published.verified(7, "p")));
  CHECK(published.target.log == std::vector<std::string>{"sync", "place p 1 abc", "sync", "done 7"});
}

TEST_CASE("Content that is there already is linked, and told done when the link is on the disk") {
  Published published;
  VerifiedFile known = published.verified(3, "");
  known.links.push_back(&published.file);
  published.run(batches_of(std::move(known)));
  CHECK(published.target.log ==
        std::vector<std::string>{"sync", "link m.bin", "link m.bin", "sync", "done 3"});
}

TEST_CASE("While there is more to do one flush serves two batches") {
  Published published;
  published.target.slowness = std::chrono::milliseconds(50);
  std::vector<std::vector<VerifiedFile>> batches;
  for (std::size_t i = 0; i < 20; ++i) batches.push_back(batch_of(published.verified(i, std::to_string(i))));
  published.run(std::move(batches));
  CHECK(published.done.size() == 20);
  CHECK(std::count(published.target.log.begin(), published.target.log.end(), "sync") <= 4);
}

TEST_CASE("A file that cannot be named fails alone") {
  Published published;
  published.target.broken = "b";
  std::vector<VerifiedFile> batch;
  for (const char* part : {"a", "b", "c"}) batch.push_back(published.verified(part[0], part));
  std::vector<std::vector<VerifiedFile>> batches;
  batches.push_back(std::move(batch));
  published.run(std::move(batches));
  CHECK(published.done == std::vector<std::pair<std::size_t, bool>>{{'a', true}, {'b', false}, {'c', true}});
}

TEST_CASE("A disk that cannot be flushed gives no name") {
  Published published;
  published.target.sync_fails = true;
  published.run(batches_of(published.verified(1, "p")));
  CHECK(published.done == std::vector<std::pair<std::size_t, bool>>{{1, false}});
  CHECK(std::count(published.target.log.begin(), published.target.log.end(), "place p 1 abc") == 0);
}
