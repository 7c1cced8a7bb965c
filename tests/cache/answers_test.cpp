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

TEST_CASE("Paths that lead out of the snapshot are marked, so that a filter can leave them out") {
  for (const char* path :
       {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\\\\b", "C:/x", "a\\u0000b", "a\\nb"}) {
    CAPTURE(path);
    const auto files = parse_tree_page("[" + file(path) + "," + file("good") + "]", "page");
    REQUIRE(files.size() == 2);
    CHECK(files[0].fault != "");
    CHECK(files[1].fault == "");
  }
}

TEST_CASE("A tree is sorted and has no path twice") {
  const auto tree = [](std::initializer_list<const char*> paths) {
    std::vector<TreeFile> files;
    for (const char* path : paths) files.push_back({path, 1, kSha1});
    return files;
  };
  auto good = tree({"b", "a/c", "a-b", "a/b"});
  check_tree(good, "tree");
  CHECK(good[0].path == "a-b");
  CHECK(good[3].path == "b");
  auto bad = tree({"a", "b", "a"});
  CHECK(error_of([&] { check_tree(bad, "tree"); }) == ErrorKind::integrity);
}

TEST_CASE("The error text of a refusal's body") {
  CHECK(parse_error_text(R"({"error":"why"})") == "why");
  for (const char* none : {"", "<html>", "[]", "{}", R"({"error":1})"}) CHECK(parse_error_text(none) == "");
}

TEST_CASE("The commit of a revision") {
  CHECK(parse_commit(R"({"sha":")" + kSha1 + R"(","id":"a/b"})", "info") == kSha1);
  for (const char* json : {"", "[]", "{}", R"({"sha":null})", R"({"sha":"main"})", R"({"sha":"../../../x"})"})
    CHECK(error_of([&] { parse_commit(json, "info"); }) == ErrorKind::integrity);
}

TEST_CASE("What a refusal means") {
  const auto kind = [](int status, const char* code, const char* message = "") {
    return refusal({.status = status, .code = code, .message = message}, "x").kind();
  };
  CHECK(kind(404, "RevisionNotFound") == ErrorKind::not_found);
  CHECK(kind(404, "EntryNotFound") == ErrorKind::not_found);
  CHECK(kind(401, "RepoNotFound") == ErrorKind::not_found);
  CHECK(kind(401, "GatedRepo") == ErrorKind::denied);
  CHECK(kind(403, "GatedRepo") == ErrorKind::denied);
  CHECK(kind(403, "", "Access to this resource is disabled.") == ErrorKind::denied);
  CHECK(kind(401, "") == ErrorKind::denied);
  CHECK(kind(401, "", "Invalid credentials in Authorization header") == ErrorKind::denied);
  CHECK(kind(403, "") == ErrorKind::denied);
  CHECK(kind(404, "") == ErrorKind::not_found);
  CHECK(kind(410, "") == ErrorKind::not_found);
  for (const int status : {400, 416, 429, 500, 503, 302}) CHECK(kind(status, "") == ErrorKind::network);
  const auto text = [](const RefusedAnswer& answer) { return std::string(refusal(answer, "x").what()); };
  CHECK(text({.status = 404, .message = "gone\x1b[2J"}).ends_with("(gone\\x1b[2J)"));
  CHECK(text({.status = 403, .message = "Access to this resource is disabled."})
            .find("is disabled (HTTP 403)") != std::string::npos);
  CHECK(text({.status = 401}).find("private") != std::string::npos);
  CHECK(text({.status = 401, .message = "Invalid credentials in Authorization header"})
            .find("token is not accepted") != std::string::npos);
  CHECK(text({.status = 429, .requested_wait = 400}).find("in 400 s") != std::string::npos);
}
