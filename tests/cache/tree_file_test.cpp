#include "cache/store/tree_file.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kSha1(40, 'a'), kSha256(64, 'b');

}  // namespace

TEST_CASE("A tree file is written as Python's json.dump writes it") {
  const std::vector<TreeFile> files = {{"\xc3\xa9 \"q\".json", 3, kSha1, "", ""},
                                       {"m.bin", 7, kSha1, kSha256, std::string(64, 'e')}};
  CHECK(tree_json(files) ==
        "{\n \"format_version\": 1,\n \"files\": {\n  \"\\u00e9 \\\"q\\\".json\": {\n   \"size\": 3,\n   "
        "\"blob_id\": \"" +
            kSha1 + "\"\n  },\n  \"m.bin\": {\n   \"size\": 7,\n   \"blob_id\": \"" + kSha1 +
            "\",\n   \"lfs_sha256\": \"" + kSha256 + "\",\n   \"lfs_size\": 7,\n   \"xet_hash\": \"" +
            std::string(64, 'e') + "\"\n  }\n }\n}");
  CHECK(tree_json({}) == "{\n \"format_version\": 1,\n \"files\": {}\n}");
}

TEST_CASE("Names beyond ASCII are escaped as Python escapes them") {
  const std::string json =
      tree_json({{"\xf0\x9f\xa4\x97 \xe6\xa8\xa1\xe5\x9e\x8b/\xe2\x80\xa8.txt", 1, kSha1, "", ""}});
  CHECK(json.find(R"("\ud83e\udd17 \u6a21\u578b/\u2028.txt")") != std::string::npos);
}

TEST_CASE("A masked xet hash is left out") {
  CHECK(tree_json({{"m.bin", 7, kSha1, kSha256, "****"}}).find("xet") == std::string::npos);
}

TEST_CASE("A tree file is read back sorted") {
  std::vector<TreeFile> files = {{"a", 3, kSha1, "", ""},
                                 {"z/m.bin", 7, kSha1, kSha256, std::string(64, 'e')}};
  const auto back = parse_tree_json(tree_json(files), "tree");
  REQUIRE(back.size() == 2);
  CHECK(back[0].path == "a");
  CHECK(back[0].size == 3);
  CHECK(back[1].etag() == kSha256);
  CHECK(back[1].xet_hash == files[1].xet_hash);
}

TEST_CASE("Tree files that are damaged") {
  const std::string entry = "\"size\":1,\"blob_id\":\"" + kSha1 + "\"";
  for (const std::string& json :
       {std::string(""), std::string("[]"), std::string("{}"),
        std::string(R"({"format_version":2,"files":{}})"), std::string(R"({"format_version":1})"),
        std::string(R"({"format_version":1,"files":[1]})"),
        std::string(R"({"format_version":1,"files":{"a":1}})"),
        std::string(R"({"format_version":1,"files":{"a":{"size":1}}})"),
        std::string(R"({"format_version":1,"files":{"a":{"size":1,"blob_id":"../x"}}})"),
        R"({"format_version":1,"files":{"../a":{)" + entry + "}}}"}) {
    CAPTURE(json);
    CHECK(error_of([&] { parse_tree_json(json, "tree"); }) == ErrorKind::integrity);
  }
}
