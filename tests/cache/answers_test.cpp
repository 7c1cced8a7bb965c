#include "cache/hub/answers.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kSha1(40, 'a'), kSha256(64, 'b');

std::string file(const std::string& path, const std::string& more = "") {
  return R"({"type":"file","path":")" + path + R"(","size":3,"oid":")" + kSha1 + "\"" + more + "}";
}

Caught page(const std::string& json) {
  return error_of([&] { parse_tree_page(json, "page"); });
}

}  // namespace

TEST_CASE("A page of a tree") {
  const auto files =
      parse_tree_page("[" + file("a.txt") + R"(,{"type":"directory","path":"sub","oid":"x"},)" +
                          file("sub/m.bin", R"(,"lfs":{"oid":")" + kSha256 +
                                                R"(","size":7,"pointerSize":134},"xetHash":"h","n":null)") +
                          "]",
                      "page");
  REQUIRE(files.size() == 2);
  CHECK(files[0].etag() == kSha1);
  CHECK(files[0].size == 3);
  CHECK(files[0].hash_kind() == HashKind::git_sha1);
  CHECK(files[1].etag() == kSha256);
  CHECK(files[1].size == 7);
  CHECK(files[1].git_oid == kSha1);
  CHECK(files[1].xet_hash == "h");
  CHECK(files[1].hash_kind() == HashKind::sha256);
}

TEST_CASE("Pages that are malformed") {
  for (const char* json :
       {"", "{}", "null", "[", "[1]", "[{}]", R"([{"type":1}])", R"([{"type":"file"}])",
        R"([{"type":"file","path":"a"}])", R"([{"type":"file","path":"a","size":-1,"oid":""}])",
        R"([{"type":"file","path":"a","size":1.5,"oid":""}])",
        R"([{"type":"file","path":"a","size":"1","oid":""}])",
        R"([{"type":"file","path":"a","size":18446744073709551616,"oid":""}])"}) {
    CAPTURE(json);
    CHECK(page(json) == ErrorKind::integrity);
  }
  CHECK(page(std::string(1000, '[')) == ErrorKind::integrity);
}

TEST_CASE("Hashes that are file names of another kind") {
  CHECK(page(R"([{"type":"file","path":"a","size":1,"oid":"../../x"}])") == ErrorKind::integrity);
  CHECK(page("[" + file("a", R"(,"lfs":{"oid":")" + kSha1 + R"(","size":7})") + "]") == ErrorKind::integrity);
  CHECK(page("[" + file("a", R"(,"lfs":{"oid":"../)" + std::string(61, 'a') + R"(","size":7})") + "]") ==
        ErrorKind::integrity);
}

TEST_CASE("Paths that lead out of the snapshot") {
  for (const char* path :
       {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\\\\b", "C:/x", "a\\u0000b", "a\\nb"}) {
    CAPTURE(path);
    CHECK(page("[" + file(path) + "]") == ErrorKind::integrity);
  }
}

TEST_CASE("A tree is sorted and without contradictions") {
  const auto tree = [](std::initializer_list<const char*> paths) {
    std::vector<TreeFile> files;
    for (const char* path : paths) files.push_back({path, 1, kSha1, "", ""});
    return files;
  };
  auto good = tree({"b", "a/c", "a-b", "a/b"});
  check_tree(good, "tree");
  CHECK(good[0].path == "a-b");
  CHECK(good[3].path == "b");
  for (auto bad :
       {tree({"a", "b", "a"}), tree({"a/b/c", "a"}), tree({"a", "a-b", "a/b"}), tree({"x/y", "x/y/z"})})
    CHECK(error_of([&] { check_tree(bad, "tree"); }) == ErrorKind::integrity);
}

TEST_CASE("The commit of a revision") {
  CHECK(parse_commit(R"({"sha":")" + kSha1 + R"(","id":"a/b"})", "info") == kSha1);
  for (const char* json : {"", "[]", "{}", R"({"sha":null})", R"({"sha":"main"})", R"({"sha":"../../../x"})"})
    CHECK(error_of([&] { parse_commit(json, "info"); }) == ErrorKind::integrity);
}

TEST_CASE("What a refusal means") {
  const auto kind = [](int status, const char* code, bool with_token = false) {
    return refusal(status, code, "", "x", with_token).kind();
  };
  CHECK(kind(404, "RevisionNotFound") == ErrorKind::not_found);
  CHECK(kind(404, "EntryNotFound") == ErrorKind::not_found);
  CHECK(kind(401, "RepoNotFound") == ErrorKind::not_found);
  CHECK(kind(401, "GatedRepo") == ErrorKind::denied);
  CHECK(kind(403, "GatedRepo", true) == ErrorKind::denied);
  CHECK(kind(401, "") == ErrorKind::denied);
  CHECK(kind(401, "", true) == ErrorKind::denied);
  CHECK(kind(403, "") == ErrorKind::denied);
  CHECK(kind(404, "") == ErrorKind::not_found);
  CHECK(kind(410, "") == ErrorKind::not_found);
  for (const int status : {400, 416, 429, 500, 503, 302}) CHECK(kind(status, "") == ErrorKind::network);
  CHECK(std::string(refusal(404, "", "gone\x1b[2J", "x", false).what()).ends_with("(gone\\x1b[2J)"));
}
