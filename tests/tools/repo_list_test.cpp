#include "tools/hfcache/repo_list.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace hf;
using namespace hf::cache;

namespace {

std::string complaint(std::string_view text) {
  try {
    parse_repo_list(text, "list");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a list names repositories, revisions, files and globs") {
  const auto repos = parse_repo_list(
      "# models\n"
      "\n"
      "acme/tiny\r\n"
      "  datasets/acme/rows@refs/pr/1   data/*.parquet README.m?  # a part\n"
      "gpt2@0123456789012345678901234567890123456789 config.json onnx/\n"
      "acme/odd \"a file\" \"#1 \\\"x\\\" \\\\\"",
      "list");
  REQUIRE(repos.size() == 4);
  CHECK(repos[0].line == 3);
  CHECK(repos[0].repo_id == "acme/tiny");
  CHECK(repos[0].revision.empty());
  CHECK(repos[0].files.empty());
  CHECK(repos[1].line == 4);
  CHECK(repos[1].repo_id == "datasets/acme/rows");
  CHECK(repos[1].revision == "refs/pr/1");
  CHECK(repos[1].globs == Words{"data/*.parquet", "README.m?"});
  CHECK(repos[2].files == Words{"config.json", "onnx/"});
  CHECK(repos[3].files == Words{"a file", "#1 \"x\" \\"});
}

TEST_CASE("each line that is wrong is told with its number") {
  CHECK(complaint("a/b x.json *.txt\nc/d\ne/f \"open\n") ==
        "list, line 1: names of files and globs cannot stand in one line, \"x.json\" and \"*.txt\"\n"
        "list, line 3: a double quote is not closed");
  CHECK(complaint("a/b \"x\"y\n") == "list, line 1: a blank is expected behind \"x\"");
  CHECK(complaint("a/b \"\"\n") == "list, line 1: \"\": is empty, a name is expected");
  CHECK(complaint("a/b@../x\n").starts_with("list, line 1: "));
  CHECK(complaint("a/b@\n").starts_with("list, line 1: "));
}

TEST_CASE("a list of nothing is a mistake") {
  CHECK(complaint("") == "list: names no repository");
  CHECK(complaint("# only a comment\n\n") == "list: names no repository");
}
