// The cache of transformers before 4.22.
#include <nlohmann/json.hpp>

#include "cache/adoption.h"
#include "cache/mirror/adopt_sources.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("URLs of the flat cache say what they say for certain") {
  const auto is = [](const char* url, const char* id, const char* revision, const char* path) {
    const auto origin = parse_flat_url(url);
    return origin && origin->repo == Repo{id} && origin->revision == revision && origin->path == path;
  };
  CHECK(is("https://huggingface.co/acme/tiny/resolve/main/config.json", "acme/tiny", "main", "config.json"));
  CHECK(is("https://huggingface.co/gpt2/resolve/refs%2Fpr%2F1/a/b%20c", "gpt2", "refs/pr/1", "a/b c"));
  CHECK(
      is("https://cdn.huggingface.co/acme/tiny/pytorch_model.bin", "acme/tiny", "main", "pytorch_model.bin"));
  CHECK(is("https://s3.amazonaws.com/models.huggingface.co/bert/acme/tiny/vocab.txt", "acme/tiny", "main",
           "vocab.txt"));
  CHECK(is("https://s3.amazonaws.com/models.huggingface.co/bert/bert-base-uncased-vocab.txt",
           "bert-base-uncased", "main", "vocab.txt"));
  for (const char* url :
       {"", "https://huggingface.co/acme/tiny", "https://huggingface.co/acme/tiny/resolve/main",
        "https://huggingface.co/acme/tiny/resolve/main/../x", "https://huggingface.co/a/b/c/resolve/main/x",
        "https://example.org/acme/tiny/resolve/main/x", "https://huggingface.co/a/b/resolve/main/x?y",
        "https://s3.amazonaws.com/models.huggingface.co/bert/bert-base-something.pt"})
    CHECK_FALSE(parse_flat_url(url));
}

TEST_CASE("The flat cache of old transformers is taken over as far as it says what it is") {
  const Foreign folder;
  const fs::path flat = folder.dir / "flat";
  const auto add = [&](const std::string& url, const std::string& etag, const std::string& text,
                       const std::string& suffix = "") {
    const fs::path path = flat / (sha256_of(url) + "." + sha256_of(etag) + suffix);
    put(path, text);
    put(path.string() + ".json", nlohmann::json{{"url", url}, {"etag", etag}}.dump());
    put(path.string() + ".lock", "");
    return path;
  };
  const std::string base = "https://huggingface.co/acme/tiny/resolve/";
  add(base + kCommit + "/config.json", "\"" + git_sha1_of(folder.config) + "\"", folder.config);
  add(base + kCommit + "/tf_model.h5", "\"" + sha256_of(folder.weights) + "\"", folder.weights, ".h5");
  const fs::path damaged = add(base + kCommit + "/vocab.txt", "\"" + git_sha1_of("right") + "\"", "wrong");
  const fs::path foreign = add("https://example.org/x", "\"" + git_sha1_of("x") + "\"", "x");
  const fs::path branch = add("https://huggingface.co/gpt2/resolve/main/merges.txt", git_sha1_of("m"), "m");
  const fs::path s3 = add("https://s3.amazonaws.com/models.huggingface.co/bert/bert-base-uncased-vocab.txt",
                          "\"" + std::string(32, 'a') + "\"", "v");
  put(flat / "unrelated", "x");
  const auto plan = [&](AdoptRequest request) {
    return plan_adopt(flat, folder.store, request, nullptr, no_progress());
  };
  const AdoptPlan made = plan({});
  CHECK_FALSE(made.is_whole());
  REQUIRE(made.revisions.size() == 1);
  CHECK(made.revisions[0].files.size() == 2);
  CHECK(why_of(made, damaged).find("is expected") != std::string::npos);
  CHECK(why_of(made, foreign).find("tells no file") != std::string::npos);
  CHECK(why_of(made, branch).find("commit") != std::string::npos);
  adopt(made, folder.store, AdoptMode::move, no_progress());
  const fs::path home = folder.store.root() / "models--acme--tiny";
  CHECK(read_text(home / "refs/main") == kCommit);
  CHECK(read_text(home / "snapshots" / kCommit / "tf_model.h5") == folder.weights);
  CHECK(folder.is_right());
  CHECK(fs::exists(damaged));
  CHECK(fs::exists(s3));
  CHECK(count_files(flat) == 13);
  const AdoptPlan made_up = plan({.repo = Repo{"gpt2"}, .synthetic = true});
  REQUIRE(made_up.revisions.size() == 1);
  CHECK(made_up.revisions[0].is_synthetic);
}
