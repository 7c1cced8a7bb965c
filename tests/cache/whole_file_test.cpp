#include "cache/store/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>

#include "cache/loopback.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("A whole file takes the place of what was there and leaves nothing beside it") {
  const TempDir dir;
  Folders folders(dir / "home");
  put(dir / "refs/main", "old");
  write_whole(folders.make(temporary_name()), dir / "refs/main", "new");
  CHECK(read_text(dir / "refs/main") == "new");
  CHECK(fs::is_empty(dir / "home"));
  CHECK(std::distance(fs::directory_iterator(dir / "refs"), fs::directory_iterator()) == 1);
}

TEST_CASE("A whole file that cannot get its name leaves nothing behind") {
  const TempDir dir;
  Folders folders(dir / "home");
  fs::create_directories(dir / "taken/x");
  const auto caught = error_of([&] { write_whole(folders.make(temporary_name()), dir / "taken", "new"); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says((dir / "taken").string()));
  CHECK(fs::is_empty(dir / "home"));
}

TEST_CASE("Temporary names differ and are known as such once they are old") {
  const TempDir dir;
  const std::string first = temporary_name(), second = temporary_name();
  CHECK(first != second);
  for (const std::string& name : {first, second, std::string("mine")}) put(dir / name, "");
  const timespec time = {std::time(nullptr) - 3700, 0};
  const timespec times[2] = {time, time};
  for (const std::string& name : {first, std::string("mine")})
    REQUIRE(utimensat(AT_FDCWD, (dir / name).c_str(), times, 0) == 0);
  remove_left_behind(dir.path());
  CHECK_FALSE(fs::exists(dir / first));
  CHECK(fs::exists(dir / second));
  CHECK(fs::exists(dir / "mine"));
  remove_left_behind(dir / "absent");
}
