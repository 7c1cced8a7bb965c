#include "cache/store/git_attributes.h"

#include <doctest/doctest.h>

#include <chrono>

#include "cache/store/lfs_pointer.h"

using namespace hf::cache;

TEST_CASE("Patterns match as git matches them") {
  CHECK(matches_git_pattern("model.bin", "*.bin"));
  CHECK(matches_git_pattern("a/b/model.bin", "*.bin"));
  CHECK_FALSE(matches_git_pattern("model.bin.txt", "*.bin"));
  CHECK(matches_git_pattern("saved_model/variables/x", "saved_model/**/*"));
  CHECK(matches_git_pattern("saved_model/x", "saved_model/**/*"));
  CHECK_FALSE(matches_git_pattern("other/saved_model/x", "saved_model/**/*"));
  CHECK(matches_git_pattern("a/b/saved_model/x", "**/saved_model/*"));
  CHECK(matches_git_pattern("saved_model/x", "**/saved_model/*"));
  CHECK(matches_git_pattern("a/b/c", "a/**"));
  CHECK_FALSE(matches_git_pattern("a", "a/**"));
  CHECK(matches_git_pattern("a/x", "/a/*"));
  CHECK_FALSE(matches_git_pattern("a/b/x", "a/*"));
  CHECK(matches_git_pattern("events.out.tfevents.7", "*tfevents*"));
  CHECK(matches_git_pattern("tokenizer.json", "tokenizer.jso[n]"));
  CHECK_FALSE(matches_git_pattern("tokenizer.json", "tokenizer.jso[!a-z]"));
  CHECK(matches_git_pattern("a*b", "a\\*b"));
  CHECK_FALSE(matches_git_pattern("axb", "a\\*b"));
  CHECK(matches_git_pattern("axb", "a?b"));
  CHECK_FALSE(matches_git_pattern("folder/x", "folder/"));
  CHECK_FALSE(matches_git_pattern("x", ""));
  CHECK(matches_git_pattern("[", "["));
}

TEST_CASE("The last line that matches counts, and deeper folders before those above") {
  GitAttributes attributes;
  attributes.add("*.bin -filter\n", "small/");
  attributes.add(
      "# weights\n*.bin filter=lfs diff=lfs merge=lfs -text\r\n"
      "\"with space.bin\" !filter\nkept.bin text\n*.txt text\nraw.bin filter=other\n[attr]x filter=lfs\n",
      "");
  CHECK(attributes.is_lfs("model.bin"));
  CHECK(attributes.is_lfs("a/model.bin"));
  CHECK(attributes.is_lfs("kept.bin"));
  CHECK_FALSE(attributes.is_lfs("with space.bin"));
  CHECK_FALSE(attributes.is_lfs("raw.bin"));
  CHECK_FALSE(attributes.is_lfs("notes.txt"));
  CHECK_FALSE(attributes.is_lfs("small/model.bin"));
  CHECK_FALSE(attributes.is_lfs("[attr]x"));
}

TEST_CASE("No pattern takes long") {
  std::string pattern, path;
  for (int i = 0; i < 200; ++i) {
    pattern += i % 2 == 0 ? "**/" : "*a*a*a*a*a*a*a*b/";
    path += std::string(200, 'a') + "/";
  }
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(matches_git_pattern(path + "x", pattern + "y"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("A pointer of git-lfs is told from any other text") {
  const std::string oid(64, 'a');
  const std::string text = "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12345\n";
  const auto pointer = parse_lfs_pointer(text);
  REQUIRE(pointer);
  CHECK(pointer->sha256 == oid);
  CHECK(pointer->size == 12345);
  CHECK_FALSE(parse_lfs_pointer(""));
  CHECK_FALSE(parse_lfs_pointer("version https://git-lfs.github.com/spec/v1\n"));
  CHECK_FALSE(parse_lfs_pointer("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n"));
  CHECK_FALSE(
      parse_lfs_pointer("version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize x\n"));
  CHECK_FALSE(parse_lfs_pointer(text + std::string(1000, ' ')));
  // As `git hash-object` says of the text above.
  CHECK(git_oid_of(*pointer) == "3f20b51a0a25d87c30cb636d2875b09456ec3b12");
}
