#include "cache/mirror/download.h"

#include <sys/stat.h>

#include "cache/loopback.h"
#include "cache/mirror/journal.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using hf::cache::FileState;

TEST_CASE("A revision is laid out byte for byte as huggingface_hub does") {
  Loopback loopback;
  const std::string commit = loopback.hub().commit(Loopback::kRepo);
  const fs::path snapshot = loopback.download();
  CHECK(snapshot == loopback.repo_folder() / "snapshots" / commit);
  check_same_files(loopback.root() / Loopback::kRepo, snapshot);
  check_no_wrong_blob(loopback.repo_folder());
  CHECK(count_leftovers(loopback.repo_folder()) == 0);

  CHECK(read_text(loopback.repo_folder() / "refs/main") == commit);
  CHECK(fs::read_symlink(snapshot / "empty") == "../../blobs/e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  const std::string deep = fs::read_symlink(snapshot / "onnx/int8/notes \xc3\xa9.txt").string();
  CHECK(deep.starts_with("../../../../blobs/"));
  CHECK(fs::read_symlink(snapshot / "model.safetensors").filename().string().size() == 64);
  CHECK(read_text(loopback.cache_root() / "CACHEDIR.TAG")
            .starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
  CHECK(fs::exists(loopback.repo_folder() / "trees" / (commit + ".json")));
  for (const char* file : {"config.json", "model.safetensors"}) {
    const std::string etag = fs::read_symlink(snapshot / file).filename().string();
    CHECK(fs::is_empty(loopback.cache_root() / ".locks/models--acme--tiny" / (etag + ".lock")));
  }
}

TEST_CASE("Modes follow the umask") {
  Loopback loopback;
  const mode_t before = umask(027);
  const fs::path snapshot = loopback.download();
  umask(before);
  struct stat info {};
  REQUIRE(stat((snapshot / "model.safetensors").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  REQUIRE(stat((loopback.repo_folder() / "refs/main").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  REQUIRE(stat(snapshot.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0750);
}

TEST_CASE("One request a file and two for the list") {
  Loopback loopback;
  loopback.download();
  std::size_t files = 0, api = 0;
  for (const LoggedRequest& request : loopback.hub().log()) {
    CHECK(request.method == "GET");
    ++(request.target.starts_with("/api/") ? api : files);
  }
  CHECK(api == 2);
  CHECK(files == 3);  // an empty file needs none

  loopback.hub().clear_log();
  loopback.download();
  CHECK(loopback.hub().log().size() == 2);
}

TEST_CASE("Content that stands under two paths is fetched once") {
  Loopback loopback;
  put(loopback.root() / "acme/tiny/copy/model.safetensors",
      read_text(loopback.root() / "acme/tiny/model.safetensors"));
  const fs::path snapshot = loopback.download();
  check_same_files(loopback.root() / Loopback::kRepo, snapshot);
  CHECK(loopback.hub().bytes_served("model.safetensors") == 320 << 10);
}

TEST_CASE("A tree of several pages is read to its end") {
  Loopback loopback({.page_size = 2});
  for (int i = 0; i < 9; ++i)
    put(loopback.root() / "acme/tiny/shards" / std::to_string(i), std::to_string(i));
  check_same_files(loopback.root() / Loopback::kRepo, loopback.download());
}

TEST_CASE("A ref is written last and for branches and tags only") {
  Loopback loopback;
  put(loopback.root() / "acme/tiny@v1.0/config.json", "{}");
  put(loopback.root() / "acme/tiny@refs%2Fpr%2F7/config.json", "[]");
  auto request = loopback.request();
  for (const char* revision : {"v1.0", "refs/pr/7"}) {
    request.revision = revision;
    const fs::path snapshot = loopback.download(request);
    CHECK(read_text(loopback.repo_folder() / "refs" / revision) == snapshot.filename().string());
  }
  request.revision = loopback.hub().commit(Loopback::kRepo);
  CHECK(loopback.download(request).filename() == request.revision);
  CHECK_FALSE(fs::exists(loopback.repo_folder() / "refs" / request.revision));
  CHECK_FALSE(fs::exists(loopback.repo_folder() / "refs/main"));

  loopback.download();
  const std::string before = read_text(loopback.repo_folder() / "refs/main");
  put(loopback.root() / "acme/tiny/model.safetensors", noise(64 << 10, 2));
  loopback.hub().forget();
  loopback.hub().order({FaultKind::wrong_content, "/resolve/", -1});
  CHECK(error_of([&] { loopback.download(); }) == ErrorKind::integrity);
  CHECK(read_text(loopback.repo_folder() / "refs/main") == before);
}

TEST_CASE("Data sets and spaces lie in folders of their own") {
  Loopback loopback;
  put(loopback.root() / "datasets/acme/rows/data/train.csv", "a,b\n1,2\n");
  auto request = loopback.request();
  request.repo = {"acme/rows", cache::RepoType::dataset};
  const fs::path snapshot = loopback.download(request);
  CHECK(snapshot.parent_path().parent_path() == loopback.cache_root() / "datasets--acme--rows");
  CHECK(read_text(snapshot / "data/train.csv") == "a,b\n1,2\n");
}

TEST_CASE("Only the selected files are fetched") {
  Loopback loopback;
  auto request = loopback.request();
  request.selection.include = {"*.json"};
  const fs::path snapshot = loopback.download(request);
  CHECK(fs::exists(snapshot / "config.json"));
  CHECK_FALSE(fs::exists(snapshot / "model.safetensors"));
  CHECK(loopback.hub().bytes_served("model.safetensors") == 0);
  CHECK(cache::find_downloaded(loopback.store(), request) == snapshot);
  const Caught missing = error_of([&] { cache::find_downloaded(loopback.store(), loopback.request()); });
  CHECK(missing == ErrorKind::not_found);
  CHECK(missing.says("model.safetensors"));
}

TEST_CASE("A plan tells present from linkable from missing files") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  fs::remove(snapshot / "empty");
  fs::remove(loopback.repo_folder() / "blobs" / fs::read_symlink(snapshot / "config.json").filename());
  const auto plan = plan_download(loopback.remote(), loopback.store(), loopback.request());
  REQUIRE(plan.files.size() == 4);
  CHECK(plan.files[0].state == FileState::missing);
  CHECK(plan.files[1].state == FileState::in_blobs);
  CHECK(plan.files[2].state == FileState::present);
  CHECK(plan.bytes_to_fetch() == plan.files[0].file.size);
  loopback.download();
  check_same_files(loopback.root() / Loopback::kRepo, snapshot);
}

TEST_CASE("A forced download fetches what is there and heals a spoiled blob") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  const fs::path blob = fs::canonical(snapshot / "model.safetensors");
  put(blob, noise(320 << 10, 9));
  auto request = loopback.request();
  loopback.download(request);
  CHECK(read_text(blob) == noise(320 << 10, 9));  // sizes are compared, contents only when asked to
  request.force = true;
  loopback.download(request);
  check_same_files(loopback.root() / Loopback::kRepo, snapshot);
}

TEST_CASE("A blob of the wrong size is not taken for the file") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  put(fs::canonical(snapshot / "model.safetensors"), "short");
  loopback.download();
  check_same_files(loopback.root() / Loopback::kRepo, snapshot);
}

TEST_CASE("A link that leads elsewhere is set right") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  fs::remove(snapshot / "config.json");
  fs::create_symlink("/etc/passwd", snapshot / "config.json");
  loopback.download();
  check_same_files(loopback.root() / Loopback::kRepo, snapshot);
}

TEST_CASE("A folder of the snapshot that leads out of it is not followed") {
  Loopback loopback;
  const TempDir elsewhere;
  const fs::path snapshot = loopback.repo_folder() / "snapshots" / loopback.hub().commit(Loopback::kRepo);
  fs::create_directories(snapshot);
  fs::create_symlink(elsewhere.path(), snapshot / "onnx");
  CHECK(error_of([&] { loopback.download(); }).kind.has_value());
  CHECK(fs::is_empty(elsewhere.path()));
}

TEST_CASE("No room on the disk is told before the first byte") {
  Loopback loopback;
  loopback.hub().order({FaultKind::other_size, "/tree/", -1, std::uint64_t{1} << 60});
  const Caught caught = error_of([&] { loopback.download(); });
  CHECK(caught == ErrorKind::io);
  CHECK(caught.says("has room for"));
  CHECK(loopback.hub().bytes_served("/resolve/") == 0);
}

TEST_CASE("A cache that has all of it is not written to") {
  Loopback loopback;
  const fs::path snapshot = loopback.download();
  const auto before = fs::last_write_time(loopback.repo_folder() / "refs/main");
  fs::remove_all(loopback.cache_root() / ".locks");
  CHECK(loopback.download() == snapshot);
  CHECK_FALSE(fs::exists(loopback.cache_root() / ".locks"));
  CHECK(fs::last_write_time(loopback.repo_folder() / "refs/main") == before);
}

TEST_CASE("An unfinished file goes on where it stopped also in a later run") {
  Loopback loopback;
  loopback.hub().order({FaultKind::drop, "model.safetensors", -1, 100 << 10});
  CHECK(loopback.download().filename() ==
        loopback.hub().commit(Loopback::kRepo));  // each attempt gets 100 KiB further
  CHECK(loopback.hub().bytes_served("model.safetensors") == 320 << 10);

  loopback.hub().cancel_faults();
  loopback.hub().clear_log();
  fs::remove_all(loopback.cache_root());
  loopback.hub().order({FaultKind::stall, "model.safetensors", -1, 50 << 10});
  CHECK(error_of([&] { loopback.download(); }) == ErrorKind::network);
  std::uint64_t kept = 0;
  for (const auto& entry : fs::directory_iterator(loopback.repo_folder() / "blobs"))
    if (entry.path().extension() == ".part") kept = entry.file_size();
  CHECK(kept > 0);
  loopback.hub().cancel_faults();
  loopback.hub().clear_log();
  loopback.download();
  CHECK(loopback.hub().bytes_served("model.safetensors") == (320 << 10) - kept);
  check_no_wrong_blob(loopback.repo_folder());
  CHECK(count_leftovers(loopback.repo_folder()) == 0);
}
