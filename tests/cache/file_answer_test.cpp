#include "cache/mirror/file_answer.h"

#include <doctest/doctest.h>

#include <optional>

using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c'), kSha256(64, 'a');
const TreeFile kFile{"m.bin", 1000, std::string(40, 'b'), kSha256};

Hop hop(std::string url, int status, const std::vector<std::string>& headers) {
  Hop made{std::move(url), status, {}};
  for (const std::string& header : headers) made.headers.add_line(header + "\r\n");
  return made;
}

Response answer(int status, const std::vector<std::string>& headers) {
  return {{hop("https://hub/m/resolve/x/m.bin", status, headers)}, "", ""};
}

std::optional<WrongAnswer> wrong_identity(const std::vector<std::string>& headers) {
  try {
    check_identity(answer(200, headers), kFile, kCommit);
  } catch (const WrongAnswer& wrong) {
    return wrong;
  }
  return std::nullopt;
}

// The bytes before, or nothing where the answer is refused.
std::optional<std::uint64_t> before(int status, const std::vector<std::string>& headers,
                                    std::uint64_t first) {
  try {
    return bytes_before(answer(status, headers), kFile, first);
  } catch (const WrongAnswer&) {
    return std::nullopt;
  }
}

const std::string kCommitLine = "X-Repo-Commit: " + kCommit;

}  // namespace

TEST_CASE("The Hub names etag, size and commit of the file that was asked for") {
  CHECK_FALSE(wrong_identity({kCommitLine, "ETag: \"" + kSha256 + "\""}));
  CHECK_FALSE(wrong_identity({kCommitLine, "ETag: " + kSha256}));  // olah's are bare
  CHECK_FALSE(wrong_identity({kCommitLine, "ETag: W/\"" + kSha256 + "\""}));
  CHECK_FALSE(wrong_identity({kCommitLine, "ETag: \"5f3-1a\""}));  // of another kind: not compared
  CHECK_FALSE(wrong_identity({kCommitLine, "X-Linked-Etag: \"" + kSha256 + "\"", "X-Linked-Size: 1000",
                              "ETag: \"" + std::string(64, 'f') + "\""}));
}

TEST_CASE("Another identity, or none, is another file") {
  const std::string etag = "ETag: \"" + kSha256 + "\"";
  for (const auto& headers : {std::vector<std::string>{kCommitLine},
                              {etag},
                              {"Content-Length: 999"},
                              {"X-Repo-Commit: " + std::string(40, 'd'), etag},
                              {kCommitLine, "ETag: \"" + std::string(64, 'f') + "\""},
                              {kCommitLine, "X-Linked-Etag: \"" + std::string(64, 'f') + "\"", etag},
                              {kCommitLine, etag, "X-Linked-Size: 999"}}) {
    const auto wrong = wrong_identity(headers);
    REQUIRE(wrong);
    CHECK(wrong->is_other_file);
  }
}

TEST_CASE("A server of plain files, which names neither etag nor commit, is heard") {
  CHECK_FALSE(wrong_identity({}));
  CHECK_FALSE(wrong_identity({"Content-Length: 1000"}));
  Response redirected;  // a Hub that redirects must say of which file
  redirected.hops = {hop("https://hub/m", 302, {}), hop("https://storage/x", 200, {})};
  CHECK_THROWS_AS(check_identity(redirected, kFile, kCommit), WrongAnswer);
}

TEST_CASE("What a storage host says of itself is not the file's identity") {
  Response response;
  response.hops = {
      hop("https://hub/m", 302, {kCommitLine, "X-Linked-Etag: \"" + kSha256 + "\""}),
      hop("https://storage/x", 200, {"ETag: \"" + std::string(64, 'f') + "\"", "X-Repo-Commit: no"})};
  CHECK_NOTHROW(check_identity(response, kFile, kCommit));
  CHECK(strong_etag(response) == "\"" + std::string(64, 'f') + "\"");
}

TEST_CASE("A range must begin where it was asked to, of a file of that size") {
  CHECK(before(206, {"Content-Range: bytes 100-999/1000"}, 100) == 0);
  CHECK(before(206, {"Content-Range: bytes 100-999/*"}, 100) == 0);
  CHECK_FALSE(before(206, {"Content-Range: bytes 99-999/1000"}, 100));
  CHECK_FALSE(before(206, {"Content-Range: bytes 100-999/1001"}, 100));
  CHECK_FALSE(before(206, {"Content-Range: bytes */1000"}, 100));
  CHECK_FALSE(before(206, {}, 100));
}

TEST_CASE("The whole file for a range has its front to be skipped") {
  CHECK(before(200, {"Content-Length: 1000"}, 100) == 100);
  CHECK(before(200, {}, 100) == 100);  // chunked
  CHECK(before(200, {"Content-Length: 1000"}, 0) == 0);
  CHECK_FALSE(before(200, {"Content-Length: 900"}, 100));
}

TEST_CASE("An encoded body is refused: its bytes are not the file's") {
  CHECK_FALSE(before(200, {"Content-Encoding: gzip"}, 0));
  CHECK(before(200, {"Content-Encoding: identity"}, 0) == 0);
}

TEST_CASE("Only a strong ETag serves If-Range") {
  CHECK(strong_etag(answer(200, {"ETag: \"a\""})) == "\"a\"");
  CHECK(strong_etag(answer(200, {"ETag: W/\"a\""})).empty());
  CHECK(strong_etag(answer(200, {"ETag: a"})).empty());
  CHECK(strong_etag(answer(200, {})).empty());
}

TEST_CASE("A refusal after a redirect is an expired address") {
  Response response = answer(403, {});
  CHECK_FALSE(is_expired(response));
  response.hops.insert(response.hops.begin(), hop("https://hub/x", 302, {}));
  CHECK(is_expired(response));
  response.hops.back().headers.add_line("X-Error-Code: GatedRepo\r\n");
  CHECK_FALSE(is_expired(response));
}
