#include "cache/store/listing.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using namespace std::chrono_literals;

namespace {

const FileTime kNow{1'800'000'000s};

CachedRevision revision(const std::string& commit, std::vector<std::string> refs, std::uint64_t files,
                        std::uint64_t bytes, std::chrono::hours age) {
  CachedRevision made;
  made.commit = commit + std::string(40 - commit.size(), '0');
  made.refs = std::move(refs);
  made.files = files;
  made.bytes = bytes;
  made.last_used = kNow - age;
  made.last_modified = kNow - 2 * age;
  return made;
}

CachedRepo repo(const std::string& id, RepoType type, std::vector<CachedRevision> revisions) {
  CachedRepo made;
  made.repo = {id, type};
  for (const CachedRevision& each : revisions) {
    made.files += each.files;
    made.bytes += each.bytes;
    made.last_used = std::max(made.last_used, each.last_used);
    made.last_modified = std::max(made.last_modified, each.last_modified);
  }
  made.revisions = std::move(revisions);
  return made;
}

std::vector<CachedRepo> some() {
  std::vector<CachedRepo> repos = {
      repo("acme/small", RepoType::model, {revision("a1", {"main"}, 3, 10, 1h)}),
      repo("acme/tiny", RepoType::dataset, {revision("b1", {}, 2, 4'000'000'000, 24h * 40)}),
      repo("zoo/big", RepoType::model,
           {revision("c1", {"main", "v2"}, 9, 1'000'000, 24h * 10),
            revision("c2", {}, 9, 2'000'000, 24h * 20)})};
  repos[1].partial_bytes = 7;
  repos[2].problems = {"odd"};
  repos[2].revisions[0].is_synthetic = true;
  return repos;
}

std::string shown(const std::vector<ListedLine>& lines) {
  std::string out;
  for (const ListedLine& line : lines)
    out += (out.empty() ? "" : " ") +
           (line.revision != nullptr ? line.revision->commit.substr(0, 2) : line.repo->repo.id);
  return out;
}

std::string kept(LineOf kind, const char* filter) {
  const std::vector<CachedRepo> repos = some();
  std::vector<ListedLine> lines = lines_of(repos, kind);
  const LineFilter test = LineFilter::parse(filter);
  std::erase_if(lines, [&](const ListedLine& line) { return !test.matches(line, kNow); });
  return shown(lines);
}

std::string sorted(LineOf kind, const char* order) {
  const std::vector<CachedRepo> repos = some();
  std::vector<ListedLine> lines = lines_of(repos, kind);
  LineOrder::parse(order).sort(lines);
  return shown(lines);
}

}  // namespace

TEST_CASE("Repositories that a filter keeps") {
  const std::pair<const char*, const char*> cases[] = {
      {"size>1GB", "acme/tiny"},
      {"size <= 10", "acme/small"},
      {"size=10B", "acme/small"},
      {"size!=10", "acme/tiny zoo/big"},
      {"files>=3", "acme/small zoo/big"},
      {"files<3", "acme/tiny"},
      {"used>30d", "acme/tiny"},
      {"accessed<2h", "acme/small"},
      {"used>=10d", "acme/tiny zoo/big"},
      {"modified>10d", "acme/tiny zoo/big"},
      {"type=dataset", "acme/tiny"},
      {"type!=dataset", "acme/small zoo/big"},
      {"type==mod*", "acme/small zoo/big"},
      {"id=acme/*", "acme/small acme/tiny"},
      {"id=*i*", "acme/tiny zoo/big"},
      {"refs=v2", "zoo/big"},
      {"ref!=main", "acme/tiny"},
      {"commit=c2*", "zoo/big"},
      {"detached", "acme/tiny"},
      {"partial", "acme/tiny"},
      {"problems", "zoo/big"},
      {"synthetic", "zoo/big"},
  };
  for (const auto& [filter, expected] : cases) {
    CAPTURE(filter);
    CHECK(kept(LineOf::repo, filter) == expected);
  }
}

TEST_CASE("Revisions that a filter keeps") {
  const std::pair<const char*, const char*> cases[] = {
      {"detached", "b1 c2"}, {"refs=main", "a1 c1"},    {"size>1MB", "b1 c2"},  {"commit=c*", "c1 c2"},
      {"used>15d", "b1 c2"}, {"modified>30d", "b1 c2"}, {"type=dataset", "b1"}, {"synthetic", "c1"},
  };
  for (const auto& [filter, expected] : cases) {
    CAPTURE(filter);
    CHECK(kept(LineOf::revision, filter) == expected);
  }
}

TEST_CASE("Filters that mean nothing are refused") {
  for (const char* bad : {"", "size", "size>", "size>big", "size~1", "used>30", "used=soon", "type>model",
                          "color=red", "=main", "detached=1", "id<a"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { LineFilter::parse(bad); }) == ErrorKind::usage);
  }
}

TEST_CASE("Orders of the lines") {
  CHECK(sorted(LineOf::repo, "name") == "acme/small acme/tiny zoo/big");
  CHECK(sorted(LineOf::repo, "name:desc") == "zoo/big acme/tiny acme/small");
  CHECK(sorted(LineOf::repo, "size") == "acme/tiny zoo/big acme/small");
  CHECK(sorted(LineOf::repo, "size:asc") == "acme/small zoo/big acme/tiny");
  CHECK(sorted(LineOf::repo, "used") == "acme/small zoo/big acme/tiny");
  CHECK(sorted(LineOf::revision, "used:asc") == "b1 c2 c1 a1");
  CHECK(sorted(LineOf::revision, "modified:desc") == "a1 c1 c2 b1");
  CHECK(sorted(LineOf::revision, "files:desc") == "c1 c2 a1 b1");  // c1 and c2 as they were
  for (const char* bad : {"", "bytes", "size:", "size:up", ":asc"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { LineOrder::parse(bad); }) == ErrorKind::usage);
  }
}
