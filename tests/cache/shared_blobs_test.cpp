#include "cache/store/shared_blobs.h"

#include <doctest/doctest.h>

#include "base/file.h"
#include "cache/cache_by_hand.h"
#include "cache/removal_checks.h"
#include "cache/store/file_lock.h"
#include "cache/store/remove.h"
#include "cache/store/rm.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kContent(100, 'x');
const std::string kName(64, 'c');

struct Shared : CacheByHand {
  fs::path payload;

  Shared() {
    payload = share("one", 'a', "model.bin", kContent, 'c');
    share("two", 'b', "model.bin", kContent, 'c');
  }
  fs::path list() const { return payload.string() + ".refs"; }
  fs::path blob(const std::string& repo) const { return folder(repo) / "blobs" / etag(kContent); }
  static std::string line(const std::string& repo) {
    return "models--acme--" + repo + "/blobs/" + etag(kContent) + "\n";
  }
  std::uint64_t sweep() const { return sweep_shared_blob(root(), kName); }
};

}  // namespace

TEST_CASE("Names in the store by the text of links") {
  const std::string cc = "../../blobs/cc/" + kName;
  CHECK(shared_name(cc, "/hub") == kName);
  CHECK(shared_name("/hub/blobs/cc/" + kName, "/hub") == kName);
  CHECK(shared_name(".././../blobs/x/../cc/" + kName, "/hub") == kName);
  for (const std::string& other :
       std::vector<std::string>{"", "../../blobs/cc/short", "../../blobs/dd/" + kName, "../blobs/cc/" + kName,
                                "../../../blobs/cc/" + kName, "/blobs/cc/" + kName, cc + "/x",
                                "../../blobs/" + kName, "../../blobs/cc/" + kName + ".refs"})
    CHECK(shared_name(other, "/hub").empty());
}

TEST_CASE("A content with a link stays, and its list loses the lines that lead nowhere") {
  const Shared cache;
  CHECK(cache.sweep() == 0);
  CHECK(read_text(cache.list()) == Shared::line("one") + Shared::line("two"));
  fs::remove(cache.blob("one"));
  CHECK(cache.sweep() == 0);
  CHECK(read_text(cache.list()) == Shared::line("two"));
  CHECK(read_text(cache.payload) == kContent);
  struct stat info {};
  REQUIRE(stat(cache.list().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0666);  // others of a shared cache write to it as well
}

TEST_CASE("A content without a link goes, and its lock stays") {
  const Shared cache;
  fs::remove(cache.blob("one"));
  fs::remove(cache.blob("two"));
  cache.write(cache.blob("two"), kContent);  // a file of its own by now
  CHECK(cache.sweep() == 100);
  CHECK_FALSE(fs::exists(cache.payload));
  CHECK_FALSE(fs::exists(cache.list()));
  CHECK(fs::exists(cache.payload.string() + ".lock"));
  CHECK(cache.sweep() == 0);
}

TEST_CASE("Without a list, without the marker or under a lock a content stays") {
  const Shared cache;
  fs::remove(cache.blob("one"));
  fs::remove(cache.blob("two"));
  {
    const FileLock held(cache.payload.string() + ".lock");
    CHECK(cache.sweep() == 0);
  }
  fs::rename(cache.list(), cache.root() / "list");
  CHECK(cache.sweep() == 0);
  fs::create_symlink(cache.root() / "list", cache.list());  // a list is a file
  CHECK(cache.sweep() == 0);
  fs::remove(cache.list());
  fs::rename(cache.root() / "list", cache.list());
  fs::rename(cache.root() / "blobs/.huggingface-shared-blobs", cache.root() / "marker");
  CHECK(cache.sweep() == 0);
  cache.write(cache.root() / "blobs/.huggingface-shared-blobs", "2\n");  // of a layout that is not known
  CHECK(cache.sweep() == 0);
  CHECK(read_text(cache.payload) == kContent);
  fs::rename(cache.root() / "marker", cache.root() / "blobs/.huggingface-shared-blobs");
  CHECK(cache.sweep() == 100);
}

TEST_CASE("Lines of a list that name no blob of a repository say nothing") {
  const Shared cache;
  fs::remove(cache.blob("one"));
  fs::remove(cache.blob("two"));
  fs::create_symlink(cache.payload, cache.root() / "link");
  fs::create_symlink(cache.payload, cache.folder("one") / "link");
  cache.write(cache.list(),
              "link\n../hub/link\nmodels--acme--one/link\nmodels--acme--one/blobs/../link\n/etc/passwd\n\n"
              "models--acme--one/blobs/\nno newline at the end");
  CHECK(cache.sweep() == 100);
}

TEST_CASE("A name that is none is not looked for") {
  const Shared cache;
  for (const std::string name : {"", "cc", "../../x", "CC"})
    CHECK(sweep_shared_blob(cache.root(), name) == 0);
}

TEST_CASE("The last repository takes the shared content with it") {
  const Shared cache;
  const auto rm = [&](const std::string& repo) {
    const CacheContents contents = contents_of(cache.store());
    const RemovalPlan plan = plan_rm(contents, {{"acme/" + repo}, {}, {}});
    const RemovalReport report = remove(cache.store(), plan, FileTime::max());
    CHECK(report.bytes == plan.bytes);
    check_nothing_dangles(cache.store());
    return report.bytes;
  };
  CHECK(rm("one") == 0);
  CHECK(read_text(cache.payload) == kContent);
  CHECK(read_text(cache.list()) == Shared::line("two"));
  CHECK(rm("two") == 100);
  CHECK_FALSE(fs::exists(cache.payload));
  CHECK(contents_of(cache.store()).problems.empty());
}
