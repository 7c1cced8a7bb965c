#include "cache/hub/repo.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("Repository ids that the Hub allows") {
  for (const char* id :
       {"gpt2", "acme/tiny", "a/b", "A_1.x-y/Z.0", "sentence-transformers/all-MiniLM-L6-v2"}) {
    CAPTURE(id);
    CHECK_FALSE(error_of([&] { check_repo({id}); }).kind);
    Repo back;
    CHECK(parse_folder_name(folder_name({id}), back));
    CHECK(back == Repo{id});
  }
}

TEST_CASE("Repository ids that would be other folders or addresses") {
  for (const char* id :
       {"",   "/",  "a/",   "/a",   "a/b/c",   "..",  "../a", "a/..", ".a",    "a.",
        "-a", "a-", "a--b", "a..b", "a/b.git", "a b", "a\nb", "a?b",  "a%2Fb", "\xc3\xa9/b"}) {
    CAPTURE(id);
    CHECK(error_of([&] { check_repo({id}); }) == ErrorKind::usage);
  }
  CHECK(error_of([] { check_repo({std::string(97, 'a')}); }) == ErrorKind::usage);
}

TEST_CASE("Revisions that would leave refs are refused") {
  for (const char* good : {"main", "v1.0", "refs/pr/1", "feature/x"})
    CHECK_FALSE(error_of([&] { check_revision(good); }).kind);
  for (const char* bad : {"", "..", "../x", "a/../b", "/main", "a//b", "a\nb"})
    CHECK(error_of([&] { check_revision(bad); }) == ErrorKind::usage);
}

TEST_CASE("Folders of the cache and their repositories") {
  CHECK(folder_name({"acme/tiny"}) == "models--acme--tiny");
  CHECK(folder_name({"acme/rows", RepoType::dataset}) == "datasets--acme--rows");
  CHECK(folder_name({"gpt2", RepoType::space}) == "spaces--gpt2");
  Repo repo;
  for (const char* other :
       {"version.txt", ".locks", "models--", "models--a--b--c", "buckets--a--b", "models"})
    CHECK_FALSE(parse_folder_name(other, repo));
}

TEST_CASE("Commits and etags are hex and nothing else") {
  const std::string hex40(40, 'a'), hex64(64, '0');
  CHECK(is_commit(hex40));
  CHECK_FALSE(is_commit(hex64));
  CHECK(is_etag(hex40));
  CHECK(is_etag(hex64));
  for (const std::string& bad :
       {std::string(39, 'a'), std::string(40, 'A'), std::string(40, 'g'), std::string("../x")})
    CHECK_FALSE(is_etag(bad));
}

TEST_CASE("Repository types have names") {
  for (const RepoType type : {RepoType::model, RepoType::dataset, RepoType::space}) {
    CHECK(repo_type_of(name_of(type)) == type);
    CHECK(cached_repo_type_of(name_of(type)) == type);
  }
  for (const char* bad : {"models", "", "Model"}) {
    CHECK(error_of([&] { repo_type_of(bad); }) == ErrorKind::usage);
    CHECK(error_of([&] { cached_repo_type_of(bad); }) == ErrorKind::usage);
  }
}

TEST_CASE("Kernels are known in a cache and not fetched") {
  CHECK(error_of([] { repo_type_of("kernel"); }) == ErrorKind::usage);
  CHECK(cached_repo_type_of("kernel") == RepoType::kernel);
  CHECK(folder_name({"acme/k", RepoType::kernel}) == "kernels--acme--k");
  Repo repo;
  CHECK(parse_folder_name("kernels--acme--k", repo));
  CHECK(repo == Repo{"acme/k", RepoType::kernel});
}
