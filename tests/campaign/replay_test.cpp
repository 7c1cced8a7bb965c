// That the replay of recorded writes loses what it may lose and keeps what it must.
#include "campaign/replay.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "base/file.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

// A log written by hand, of a folder that is empty at first.
class Recorded {
 public:
  Recorded() { fs::create_directory(root()); }

  fs::path root() const { return dir_ / "root"; }
  std::string path(const std::string& name) const { return (root() / name).string(); }
  void add(RecordHead head, std::string_view first = {}, std::string_view second = {}) {
    head.first = static_cast<std::uint32_t>(first.size());
    head.second = static_cast<std::uint32_t>(second.size());
    log_.append(reinterpret_cast<const char*>(&head), sizeof head).append(first).append(second);
    ++count_;
  }
  void write_file(const std::string& name, std::string_view content) {
    add({RecordedCall::open, 5, kCreated}, path(name));
    add({RecordedCall::write, 5, 0}, content);
  }
  std::uint64_t count() const { return count_; }

  // What a failure at the end leaves under a name, over many states; "none" where there is no such file.
  std::set<std::string> states_of(const std::string& name) {
    std::ofstream(dir_ / "log", std::ios::binary) << log_;
    Replay replay(root());
    replay.read(dir_ / "log");
    std::mt19937_64 random(1);
    std::set<std::string> found;
    for (int i = 0; i < 300; ++i) {
      replay.build(dir_ / "after", replay.size(), random);
      found.insert(fs::is_regular_file(dir_ / "after" / name) ? read_text(dir_ / "after" / name) : "none");
      fs::remove_all(dir_ / "after");
    }
    return found;
  }

 private:
  TempDir dir_;
  std::string log_;
  std::uint64_t count_ = 0;
};

using States = std::set<std::string>;

}  // namespace

TEST_CASE("A name may be on the disk before the bytes that were not synced") {
  Recorded recorded;
  recorded.write_file("t", "abc");
  recorded.add({RecordedCall::rename}, recorded.path("t"), recorded.path("blob"));
  CHECK(recorded.states_of("blob") == States{"none", "", "abc", std::string(3, '\0')});
}

TEST_CASE("What was synced is there, a name that was not may be missing") {
  Recorded recorded;
  recorded.write_file("t", "abc");
  recorded.add({RecordedCall::sync_file, 5, recorded.count()});
  recorded.add({RecordedCall::rename}, recorded.path("t"), recorded.path("blob"));
  CHECK(recorded.states_of("blob") == States{"none", "abc"});
}

TEST_CASE("After a sync of the folder its names stay") {
  Recorded recorded;
  recorded.write_file("t", "abc");
  recorded.add({RecordedCall::sync_file, 5, recorded.count()});
  recorded.add({RecordedCall::rename}, recorded.path("t"), recorded.path("blob"));
  recorded.add({RecordedCall::open, 6, kFolder}, recorded.path(""));
  recorded.add({RecordedCall::sync_file, 6, recorded.count()});
  CHECK(recorded.states_of("blob") == States{"abc"});
  CHECK(recorded.states_of("t") == States{"none"});
}

TEST_CASE("A sync of all covers what was done before it began, and no more") {
  Recorded recorded;
  recorded.write_file("first", "abc");
  const std::uint64_t begun = recorded.count();
  recorded.write_file("second", "def");
  recorded.add({RecordedCall::sync_all, -1, begun});
  CHECK(recorded.states_of("first") == States{"abc"});
  CHECK(recorded.states_of("second").contains("none"));
}

TEST_CASE("A file in a folder that is not yet on the disk is not there") {
  Recorded recorded;
  recorded.add({RecordedCall::mkdir}, recorded.path("folder"));
  recorded.write_file("folder/t", "abc");
  recorded.add({RecordedCall::sync_file, 5, recorded.count()});
  recorded.add({RecordedCall::open, 6, kFolder}, recorded.path("folder"));
  recorded.add({RecordedCall::sync_file, 6, recorded.count()});
  CHECK(recorded.states_of("folder/t") == States{"none", "abc"});
}

TEST_CASE("A rename within a folder never leaves both names") {
  Recorded recorded;
  recorded.write_file("t", "abc");
  recorded.add({RecordedCall::sync_all, -1, recorded.count()});
  recorded.add({RecordedCall::rename}, recorded.path("t"), recorded.path("blob"));
  CHECK(recorded.states_of("t") == States{"none", "abc"});
}
