#include "cache/store/store.h"

#include "cache/loopback.h"
#include "support/error_of.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c');

}  // namespace

TEST_CASE("The cache's folder by Hugging Face's precedence") {
  Environment::Values values = {{"HOME", "/h"}, {"V", "vol"}};
  const auto root = [&] { return cache_root(Environment(values)).string(); };
  CHECK(root() == "/h/.cache/huggingface/hub");
  values["XDG_CACHE_HOME"] = "/x";
  CHECK(root() == "/x/huggingface/hub");
  values["HF_HOME"] = "~/hf";
  CHECK(root() == "/h/hf/hub");
  values["PYTORCH_PRETRAINED_BERT_CACHE"] = "/bert";
  CHECK(root() == "/bert");
  values["PYTORCH_TRANSFORMERS_CACHE"] = "/pytorch";
  CHECK(root() == "/pytorch");
  values["TRANSFORMERS_CACHE"] = "~/not expanded";
  CHECK(root() == "~/not expanded");
  values["HUGGINGFACE_HUB_CACHE"] = "/$V/old";
  CHECK(root() == "/vol/old");
  values["HF_HUB_CACHE"] = "~/new";
  CHECK(root() == "/h/new");
  values["HF_HUB_CACHE"] = "";
  CHECK(root() == "/vol/old");
  CHECK(cache_root(Environment(values), "given") == "given");
}

TEST_CASE("A snapshot is found by branch and by commit") {
  const TempDir dir;
  put(dir / "models--a--b/refs/main", kCommit);
  put(dir / "models--a--b/refs/refs/pr/1", kCommit + "\n");  // as an editor leaves it
  const fs::path snapshot = dir / "models--a--b/snapshots" / kCommit;
  fs::create_directories(snapshot);
  const Store store(dir.path());
  CHECK(store.snapshot({"a/b"}, "main") == snapshot);
  CHECK(store.snapshot({"a/b"}, "refs/pr/1") == snapshot);
  CHECK(store.snapshot({"a/b"}, kCommit) == snapshot);
}

TEST_CASE("The user's cache is found through the environment") {
  const TempDir dir;
  put(dir / "models--a--b/refs/main", kCommit);
  fs::create_directories(dir / "models--a--b/snapshots" / kCommit);
  setenv("HF_HUB_CACHE", dir.path().c_str(), 1);
  CHECK(locate("a/b") == dir / "models--a--b/snapshots" / kCommit);
  CHECK(error_of([] { locate("a/c"); }) == ErrorKind::not_found);
  unsetenv("HF_HUB_CACHE");
}

TEST_CASE("What is missing is named with where it was looked for") {
  const TempDir dir;
  const Store store(dir.path());
  const auto caught = [&](const char* revision) {
    return error_of([&] { store.snapshot({"a/b"}, revision); });
  };
  Caught error = caught("main");
  CHECK(error == ErrorKind::not_found);
  CHECK(error.says((dir / "models--a--b").string()));
  put(dir / "models--a--b/refs/main", kCommit);
  error = caught("v1");
  CHECK(error == ErrorKind::not_found);
  CHECK(error.says("refs/v1"));
  error = caught("main");
  CHECK(error == ErrorKind::not_found);
  CHECK(error.says("snapshots/" + kCommit));
  CHECK(caught("refs") == ErrorKind::not_found);
  CHECK(error_of([&] { store.snapshot({"../b"}, "main"); }) == ErrorKind::usage);
  CHECK(caught("../main") == ErrorKind::usage);
}

TEST_CASE("A ref that holds no commit is not followed") {
  const TempDir dir;
  const Store store(dir.path());
  for (const char* text : {"", "main", "../../../etc"}) {
    put(dir / "models--a--b/refs/main", text);
    CHECK(error_of([&] { store.snapshot({"a/b"}, "main"); }) == ErrorKind::integrity);
  }
}
