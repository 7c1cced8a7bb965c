#include "cache/store/rm.h"

#include <doctest/doctest.h>

#include "cache/cache_by_hand.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

struct Filled : CacheByHand {
  Filled() {
    add("tiny", 'a', "config.json", "common");
    add("tiny", 'a', "model.bin", "new");
    add("tiny", 'b', "config.json", "common");
    add("tiny", 'b', "model.bin", "old!");
    ref("tiny", "main", 'a');
    ref("tiny", "v1", 'b');
    ref("tiny", "v1.0", 'b');
    add("other", 'c', "config.json", "12345");
    write(folder("tiny") / "blobs" / etag("orphan"), "orphan");
    write(folder("tiny") / "blobs" / (etag("next") + ".incomplete"), "12");
    fs::create_directories(root() / "datasets--acme--rows/snapshots" / commit('d'));
  }

  Caught refused(const RmRequest& request) const {
    const CacheContents contents = contents_of(store());
    return error_of([&] { plan_rm(contents, request); });
  }
};

}  // namespace

TEST_CASE("A repository goes with all that is in its folder") {
  const Filled cache;
  const CacheContents contents = contents_of(cache.store());
  const RemovalPlan plan = plan_rm(contents, {{"acme/tiny"}, {}, {}});
  REQUIRE(plan.repos.size() == 1);
  CHECK(plan.repos[0].revisions.size() == 2);
  CHECK(plan.repos[0].blobs.size() == 4);
  CHECK(plan.repos[0].remnants.size() == 1);
  CHECK(plan.repos[0].is_whole);
  CHECK(plan.bytes == 6 + 3 + 4 + 6 + 2);
}

TEST_CASE("A commit is known by its first digits") {
  const Filled cache;
  const CacheContents contents = contents_of(cache.store());
  const RemovalPlan plan = plan_rm(contents, {{"bbbbbbb", CacheByHand::commit('c')}, {}, {}});
  REQUIRE(plan.repos.size() == 2);
  CHECK(plan.bytes == 5 + 4);
  CHECK(plan.repos[0].repo->repo.id == "acme/other");
  CHECK(plan.repos[1].revisions == std::vector<std::size_t>{1});
  CHECK_FALSE(plan.repos[1].is_whole);
}

TEST_CASE("One of two names for a revision goes alone") {
  const Filled cache;
  const CacheContents contents = contents_of(cache.store());
  const RemovalPlan named = plan_rm(contents, {{"acme/tiny"}, {}, "v1"});
  REQUIRE(named.repos.size() == 1);
  CHECK(named.repos[0].revisions.empty());
  CHECK(named.repos[0].refs == std::vector<std::string>{"v1"});
  CHECK(named.bytes == 0);
  const RemovalPlan last = plan_rm(contents, {{"acme/tiny"}, {}, "main"});
  CHECK(last.repos[0].revisions == std::vector<std::size_t>{0});
  CHECK(last.bytes == 3);
  const RemovalPlan commit = plan_rm(contents, {{"acme/tiny"}, {}, "bbbbbbbb"});
  CHECK(commit.repos[0].revisions == std::vector<std::size_t>{1});
}

TEST_CASE("What rm is not told clearly enough") {
  const Filled cache;
  cache.add("third", 'b', "config.json", "x");
  const Caught missing = cache.refused({{"acme/none", "acme/tiny", "eeeeeeee"}, {}, {}});
  CHECK(missing == ErrorKind::not_found);
  CHECK(missing.message == "\"acme/none\", \"eeeeeeee\": not in the cache");
  const Caught other_type = cache.refused({{"acme/rows"}, {}, {}});
  CHECK(other_type == ErrorKind::not_found);
  CHECK(other_type.says("there is a dataset of that name: --repo-type"));
  CHECK_FALSE(cache.refused({{"acme/rows"}, RepoType::dataset, {}}).kind);
  const Caught two = cache.refused({{"bbbbbbb"}, {}, {}});
  CHECK(two == ErrorKind::usage);
  CHECK(two.says("acme/third " + CacheByHand::commit('b')));
  CHECK(cache.refused({{"bbbbbb"}, {}, {}}) == ErrorKind::not_found);  // too few digits
  CHECK(cache.refused({{"acme/tiny"}, {}, "v2"}) == ErrorKind::not_found);
  CHECK(cache.refused({{"acme/tiny", "acme/other"}, {}, "main"}) == ErrorKind::usage);
  CHECK(cache.refused({{"aaaaaaa"}, RepoType::dataset, {}}) == ErrorKind::not_found);
}

TEST_CASE("Named twice it goes once") {
  const Filled cache;
  const CacheContents contents = contents_of(cache.store());
  const RemovalPlan plan = plan_rm(contents, {{"acme/other", "ccccccc", "acme/other"}, {}, {}});
  REQUIRE(plan.repos.size() == 1);
  CHECK(plan.repos[0].revisions.size() == 1);
  CHECK(plan.repos[0].blobs.size() == 1);
  CHECK(plan.bytes == 5);
}
