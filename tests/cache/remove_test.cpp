#include "cache/store/remove.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <thread>

#include "base/file.h"
#include "cache/cache_by_hand.h"
#include "cache/removal_checks.h"
#include "cache/store/file_lock.h"
#include "cache/store/prune.h"
#include "cache/store/rm.h"
#include "support/skip.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using namespace std::chrono_literals;

namespace {

RemovalReport prune(const CacheByHand& cache, const PruneRules& rules) {
  const CacheContents contents = contents_of(cache.store());
  const RemovalPlan plan = plan_prune(contents, rules);
  const RemovalReport report = remove(cache.store(), plan, rules.now - rules.grace);
  check_nothing_dangles(cache.store());
  if (report.kept.empty() && report.failures.empty()) CHECK(report.bytes == plan.bytes);
  return report;
}

RemovalReport rm(const CacheByHand& cache, const std::string& target, const std::string& revision = "") {
  const CacheContents contents = contents_of(cache.store());
  RmRequest request{{target}, {}, {}};
  if (!revision.empty()) request.revision = revision;
  const RemovalPlan plan = plan_rm(contents, request);
  const RemovalReport report = remove(cache.store(), plan, FileTime::max());
  check_nothing_dangles(cache.store());
  if (report.kept.empty() && report.failures.empty()) CHECK(report.bytes == plan.bytes);
  return report;
}

RemovalReport rm_unchecked(const CacheByHand& cache, const std::string& target) {
  const CacheContents contents = contents_of(cache.store());
  return remove(cache.store(), plan_rm(contents, {{target}, {}, {}}), FileTime::max());
}

fs::path lock_of(const CacheByHand& cache, const std::string& repo, const std::string& content) {
  const fs::path folder = cache.root() / ".locks" / ("models--acme--" + repo);
  fs::create_directories(folder);
  return folder / (CacheByHand::etag(content) + ".lock");
}

bool is_there(const fs::path& path) { return fs::exists(fs::symlink_status(path)); }

std::string lines(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}

// Revision a, which main stands for, and b, with one file in common.
struct TwoRevisions : CacheByHand {
  fs::path common, current, old;

  TwoRevisions() {
    common = add("tiny", 'a', "config.json", "common");
    current = add("tiny", 'a', "sub/model.bin", "new");
    add("tiny", 'b', "config.json", "common");
    old = add("tiny", 'b', "sub/model.bin", "old!");
    ref("tiny", "main", 'a');
    write(folder("tiny") / "trees" / (commit('b') + ".json"), "{}");
    write(folder("tiny") / ".no_exist" / commit('b') / "x.json", "");
  }
  fs::path snapshot(char digit) const { return folder("tiny") / "snapshots" / commit(digit); }
};

}  // namespace

TEST_CASE("A revision goes with its list and its blobs, and what is shared stays") {
  const TwoRevisions cache;
  const RemovalReport report = prune(cache, in(2h));
  CHECK(report.revisions == 1);
  CHECK(report.blobs == 1);
  CHECK(report.bytes == 4);
  CHECK(report.kept.empty());
  CHECK_FALSE(is_there(cache.snapshot('b')));
  CHECK_FALSE(is_there(cache.old));
  CHECK_FALSE(is_there(cache.folder("tiny") / "trees" / (CacheByHand::commit('b') + ".json")));
  CHECK_FALSE(is_there(cache.folder("tiny") / ".no_exist" / CacheByHand::commit('b')));
  CHECK(read_text(cache.snapshot('a') / "config.json") == "common");
  CHECK(read_text(cache.snapshot('a') / "sub/model.bin") == "new");
  CHECK(read_text(cache.folder("tiny") / "refs/main") == CacheByHand::commit('a'));
  CHECK(contents_of(cache.store()).repos[0].remnants.empty());
  CHECK(prune(cache, in(2h)).bytes == 0);  // there is nothing more to do
}

TEST_CASE("Access times of what stays are as they were") {
  const TwoRevisions cache;
  CacheByHand::age(cache.common, 500h, 900h);
  struct stat old {
  }, now{};
  stat(cache.common.c_str(), &old);
  prune(cache, in(2h));
  stat(cache.common.c_str(), &now);
  CHECK(now.st_atim.tv_sec == old.st_atim.tv_sec);
  CHECK(now.st_mtim.tv_sec == old.st_mtim.tv_sec);
}

TEST_CASE("A repository that keeps no revision goes with its folders, and its locks stay") {
  const CacheByHand cache;
  cache.add("tiny", 'a', "config.json", "{}");
  cache.write(cache.folder("tiny") / "refs/main.0123abcd.tmp", "half");
  fs::create_directories(cache.folder("tiny") / "refs/refs/pr");
  const fs::path lock = lock_of(cache, "tiny", "{}");
  cache.write(lock, "");
  CHECK(prune(cache, in(2h)).revisions == 1);  // another program's temporary ref stays for a day
  CHECK(is_there(cache.folder("tiny") / "snapshots"));
  CHECK(prune(cache, in(25h)).kept.empty());
  CHECK_FALSE(is_there(cache.folder("tiny")));
  CHECK(is_there(lock));
}

TEST_CASE("rm of a repository leaves nothing but its locks") {
  const TwoRevisions cache;
  cache.write(cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan"), "orphan");
  cache.write(cache.folder("tiny") / "blobs" / (CacheByHand::etag("next") + ".incomplete"), "12");
  cache.ref("tiny", "refs/pr/1", 'b');
  const RemovalReport report = rm(cache, "acme/tiny");
  CHECK(lines(report.kept).empty());
  CHECK(lines(report.failures).empty());
  CHECK(report.revisions == 2);
  CHECK(report.bytes == 6 + 3 + 4 + 6 + 2);
  CHECK_FALSE(is_there(cache.folder("tiny")));
  CHECK(contents_of(cache.store()).repos.empty());
  CHECK(contents_of(cache.store()).problems.empty());
}

TEST_CASE("A stranger's file keeps the repository's folder") {
  const TwoRevisions cache;
  cache.write(cache.folder("tiny") / "notes.txt", "mine");
  const RemovalReport report = rm(cache, "acme/tiny");
  CHECK(lines(report.kept) == "model acme/tiny: its folder stays, it is not empty\n");
  CHECK(read_text(cache.folder("tiny") / "notes.txt") == "mine");
  CHECK(is_there(cache.folder("tiny") / "snapshots"));  // without it huggingface_hub would call it damaged
}

TEST_CASE("rm of one ref, of the last ref, of a commit") {
  const TwoRevisions cache;
  cache.ref("tiny", "v1", 'b');
  cache.ref("tiny", "release/v1.0", 'b');
  CHECK(rm(cache, "acme/tiny", "release/v1.0").bytes == 0);
  CHECK_FALSE(is_there(cache.folder("tiny") / "refs/release"));
  CHECK(is_there(cache.snapshot('b')));
  CHECK(rm(cache, "acme/tiny", "v1").bytes == 4);
  CHECK_FALSE(is_there(cache.snapshot('b')));
  CHECK_FALSE(is_there(cache.folder("tiny") / "refs/v1"));
  CHECK(rm(cache, "aaaaaaaaaa").bytes == 9);
  CHECK(contents_of(cache.store()).repos[0].revisions.empty());
  CHECK_FALSE(is_there(cache.folder("tiny") / "refs/main"));
}

TEST_CASE("A snapshot of real files goes with them") {
  const TwoRevisions cache;
  cache.write(cache.snapshot('b') / "copied.bin", "12345");
  CHECK(prune(cache, in(2h)).bytes == 4 + 5);
}

TEST_CASE("While a download holds a lock its repository's revisions stay") {
  const TwoRevisions cache;
  const fs::path orphan = cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan");
  cache.write(orphan, "orphan");
  {
    const FileLock held(lock_of(cache, "tiny", "another"));
    CHECK(is_in_use(cache.store(), {"acme/tiny"}));
    const RemovalReport report = prune(cache, in(2h));
    CHECK(report.revisions == 0);
    CHECK(lines(report.kept) == "model acme/tiny: is being downloaded, its revisions stay\n");
    CHECK(is_there(cache.old));
    CHECK_FALSE(is_there(orphan));  // nobody holds that one's lock
  }
  CHECK_FALSE(is_in_use(cache.store(), {"acme/tiny"}));
  CHECK(prune(cache, in(2h)).revisions == 1);
}

TEST_CASE("A blob whose lock is taken stays") {
  const TwoRevisions cache;
  const fs::path orphan = cache.folder("tiny") / "blobs" / CacheByHand::etag("orphan");
  cache.write(orphan, "orphan");
  fs::remove_all(cache.snapshot('b'));
  const FileLock held(lock_of(cache, "tiny", "orphan"));
  const RemovalReport report = prune(cache, in(2h));
  CHECK(lines(report.kept) == "model acme/tiny: a blob is in use\n");
  CHECK(is_there(orphan));
  CHECK_FALSE(is_there(cache.old));
}

TEST_CASE("A link that came after the scan keeps its blob") {
  const TwoRevisions cache;
  fs::remove_all(cache.snapshot('b'));
  const CacheContents contents = contents_of(cache.store());
  const PruneRules rules = in(2h);
  const RemovalPlan plan = plan_prune(contents, rules);
  cache.link("tiny", 'c', "model.bin", CacheByHand::etag("old!"));
  const RemovalReport report = remove(cache.store(), plan, rules.now - rules.grace);
  CHECK(report.blobs == 0);
  CHECK(is_there(cache.old));
  check_nothing_dangles(cache.store());
}

TEST_CASE("A ref that came after the scan keeps its revision") {
  const TwoRevisions cache;
  const CacheContents contents = contents_of(cache.store());
  const PruneRules rules = in(2h);
  const RemovalPlan plan = plan_prune(contents, rules);
  cache.ref("tiny", "v1", 'b');
  const RemovalReport report = remove(cache.store(), plan, rules.now - rules.grace);
  CHECK(report.kept[0] == "model acme/tiny: revision bbbbbbbbbbbb is needed again");
  CHECK(report.revisions == 0);
  CHECK(read_text(cache.snapshot('b') / "sub/model.bin") == "old!");
  check_nothing_dangles(cache.store());
}

TEST_CASE("A ref that was moved after the scan stays where it is now") {
  const TwoRevisions cache;
  const CacheContents contents = contents_of(cache.store());
  const RemovalPlan plan = plan_rm(contents, {{"acme/tiny"}, {}, "main"});
  cache.ref("tiny", "main", 'b');
  const RemovalReport report = remove(cache.store(), plan, FileTime::max());
  CHECK(read_text(cache.folder("tiny") / "refs/main") == CacheByHand::commit('b'));
  CHECK(report.revisions == 1);  // a has no name any more, and was to go
  CHECK(read_text(cache.snapshot('b') / "config.json") == "common");
  CHECK(contents_of(cache.store()).repos[0].remnants.empty());
  check_nothing_dangles(cache.store());
}

TEST_CASE("A blob that was replaced after the scan is a new one") {
  const TwoRevisions cache;
  fs::remove_all(cache.snapshot('b'));
  const CacheContents contents = contents_of(cache.store());
  PruneRules rules = in(0h);
  rules.grace = 0s;
  rules.now += 1ms;
  const RemovalPlan plan = plan_prune(contents, rules);
  std::this_thread::sleep_for(20ms);
  fs::remove(cache.old);
  cache.write(cache.old, "old!");
  const RemovalReport report = remove(cache.store(), plan, rules.now);
  CHECK(report.blobs == 0);
  CHECK(is_there(cache.old));
}

TEST_CASE("Partial files go when nobody writes them") {
  const TwoRevisions cache;
  const std::string etag = CacheByHand::etag("next");
  const fs::path part = cache.folder("tiny") / "blobs" / (etag + ".0123456789abcdef01234567.hfpart");
  const fs::path journal = part.string() + ".journal";
  const fs::path theirs = cache.folder("tiny") / "blobs" / (etag + ".0123abcd.incomplete");
  for (const fs::path& file : {part, journal, theirs}) cache.write(file, "12345");
  for (const fs::path& file : {part, journal}) CacheByHand::age(file, 2h, 2h);
  {
    const FileLock writing(part);  // as our downloads lock what they write
    const RemovalReport report = prune(cache, in(25h));
    CHECK(report.remnants == 1);
    CHECK(is_there(part));
    CHECK(is_there(journal));
    CHECK_FALSE(is_there(theirs));
  }
  cache.write(theirs, "12345");
  {
    const FileLock downloading(lock_of(cache, "tiny", "next"));
    CHECK(prune(cache, in(25h)).remnants == 0);
    CHECK(is_there(part));
    CHECK(is_there(theirs));
  }
  CHECK(prune(cache, in(2h)).bytes == 10);
  CHECK_FALSE(is_there(part));
  CHECK_FALSE(is_there(journal));
  CHECK(is_there(theirs));
  CHECK(prune(cache, in(25h)).bytes == 5);
}

TEST_CASE("A partial file that goes on being written after the scan stays") {
  const TwoRevisions cache;
  const fs::path part = cache.folder("tiny") / "blobs" / (CacheByHand::etag("next") + ".incomplete");
  cache.write(part, "12345");
  const CacheContents contents = contents_of(cache.store());
  const PruneRules rules = in(25h);
  const RemovalPlan plan = plan_prune(contents, rules);
  cache.write(part, "123456");
  CHECK(remove(cache.store(), plan, rules.now - rules.grace).remnants == 0);
  CHECK(is_there(part));
}

TEST_CASE("What killed programs left is cleared") {
  const TwoRevisions cache;
  const fs::path home = cache.folder("tiny");
  const std::string gone = CacheByHand::commit('9');
  for (const std::string name : {"trees/.x.json.12.0.tmp", ".ref-1234", ".hf-12-0", "tmp_1b4e28ba",
                                 "refs/gone", "refs/odd", "refs/main.0123abcd.tmp"})
    cache.write(home / name, "x");
  cache.write(home / (".hf-removed-999999999-0-" + gone) / "sub/config.json", "x");
  cache.write(home / "trees" / (gone + ".json"), "{}");
  cache.write(home / ".no_exist" / gone / "x", "");
  fs::create_directories(home / "refs/refs/pr");
  fs::create_symlink("../../blobs/cc/x", home / "blobs/.x.0123abcd.shared");
  const RemovalReport report = prune(cache, in(25h));
  CHECK(lines(report.kept).empty());
  const CachedRepo repo = contents_of(cache.store()).repos[0];
  CHECK(repo.remnants.empty());
  CHECK(lines(repo.problems).empty());
  CHECK(repo.revisions.size() == 1);
}

TEST_CASE("A torn ref that was written anew stays") {
  const TwoRevisions cache;
  cache.write(cache.folder("tiny") / "refs/next", "ccc");
  const CacheContents contents = contents_of(cache.store());
  const PruneRules rules = in(2h);
  const RemovalPlan plan = plan_prune(contents, rules);
  cache.write(cache.folder("tiny") / "refs/next", CacheByHand::commit('c'));
  remove(cache.store(), plan, rules.now - rules.grace);
  CHECK(read_text(cache.folder("tiny") / "refs/next") == CacheByHand::commit('c'));
}

TEST_CASE("rm takes the refs to commits that are elsewhere with it") {
  const TwoRevisions cache;
  cache.write(cache.folder("tiny") / "refs/release/v2", CacheByHand::commit('c'));
  CHECK(lines(rm_unchecked(cache, "acme/tiny").kept).empty());
  CHECK_FALSE(is_there(cache.folder("tiny")));
}

TEST_CASE("A killed run of the same number is in nobody's way") {
  const TwoRevisions cache;
  const std::string left = ".hf-removed-" + std::to_string(getpid()) + "-0-" + CacheByHand::commit('b');
  cache.write(cache.folder("tiny") / left / "config.json", "x");
  cache.write(cache.folder("tiny") / (".taken-ref-" + std::to_string(getpid())), "x");
  CHECK(prune(cache, in(25h)).revisions == 1);
  CHECK(contents_of(cache.store()).repos[0].remnants.empty());
}

TEST_CASE("A snapshot that a living process has taken away is its own to delete") {
  const TwoRevisions cache;
  const fs::path taken =
      cache.folder("tiny") / (".hf-removed-" + std::to_string(getppid()) + "-0-" + CacheByHand::commit('c'));
  cache.write(taken / "config.json", "x");
  CHECK(prune(cache, in(25h)).kept.size() == 1);
  CHECK(is_there(taken / "config.json"));
  fs::rename(taken, cache.folder("tiny") / (".hf-removed-999999999-0-" + CacheByHand::commit('c')));
  CHECK(prune(cache, in(25h)).kept.empty());
  CHECK(contents_of(cache.store()).repos[0].remnants.empty());
}

TEST_CASE("What cannot be removed is told, stays whole, and keeps nothing else") {
  const TwoRevisions cache;
  cache.add("another", 'c', "config.json", "12");
  // A folder where a lock should be: no user can take that one.
  fs::create_directories(lock_of(cache, "another", "12"));
  const RemovalReport report = prune(cache, in(2h));
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].find("Is a directory") != std::string::npos);
  CHECK(report.revisions == 2);
  CHECK_FALSE(is_there(cache.old));
  CHECK(is_there(cache.folder("another") / "blobs" / CacheByHand::etag("12")));
}

TEST_CASE("Links of other users lead nowhere") {
  if (geteuid() != 0) return skip("only root can make links of other users");
  const TwoRevisions cache;
  const fs::path victim = cache.root().parent_path() / "victim";
  for (const char* name : {"refs/heads/main", "tmp_notes", ".x.1.0.tmp", "config"})
    cache.write(victim / name, "x");
  cache.write(victim / (CacheByHand::etag("x") + ".incomplete"), "x");
  for (const fs::path& link : {cache.root() / "models--acme--evil", cache.folder("half") / "refs",
                               cache.folder("half") / "blobs", cache.folder("half") / "trees"}) {
    fs::create_directories(link.parent_path());
    fs::create_directory_symlink(link.filename() == "refs" ? victim / "refs" : victim, link);
    REQUIRE(lchown(link.c_str(), 12345, 12345) == 0);
  }
  const CacheContents contents = contents_of(cache.store());
  for (const CachedRepo& repo : contents.repos)
    if (repo.repo.id != "acme/tiny") CHECK(lines(repo.problems).find("another user") != std::string::npos);
  prune(cache, in(25h));
  for (const char* name : {"refs/heads/main", "tmp_notes", ".x.1.0.tmp", "config"})
    CHECK(is_there(victim / name));
  CHECK(is_there(victim / (CacheByHand::etag("x") + ".incomplete")));
}

TEST_CASE("Folders that this user has on another disk are cleared there") {
  const TwoRevisions cache;
  for (const char* name : {"blobs", "snapshots"}) {
    fs::rename(cache.folder("tiny") / name, cache.root().parent_path() / name);
    fs::create_directory_symlink(cache.root().parent_path() / name, cache.folder("tiny") / name);
  }
  CHECK(contents_of(cache.store()).repos[0].revisions.size() == 2);
  CHECK(prune(cache, in(2h)).revisions == 1);
  CHECK_FALSE(is_there(cache.root().parent_path() / "snapshots" / CacheByHand::commit('b')));
}
