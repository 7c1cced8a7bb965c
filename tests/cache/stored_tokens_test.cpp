#include "cache/store/stored_tokens.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::cache;
using namespace hf::test;

namespace {

StoredTokens tokens_in(const fs::path& home) {
  return StoredTokens(Environment({{"HF_HOME", home.string()}}));
}

unsigned mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

}  // namespace

TEST_CASE("A login is two files that only their owner reads") {
  const TempDir dir;
  const StoredTokens stored = tokens_in(dir / "home");
  CHECK(stored.all().empty());
  CHECK(stored.in_use().empty());
  stored.save("laptop", "hf_one");
  stored.save("a b", "hf_two");
  CHECK(read_text(dir / "home/token") == "hf_two");
  CHECK(read_text(dir / "home/stored_tokens") ==
        "[a b]\nhf_token = hf_two\n\n[laptop]\nhf_token = hf_one\n\n");
  CHECK(mode_of(dir / "home/token") == 0600);
  CHECK(mode_of(dir / "home/stored_tokens") == 0600);
  CHECK(mode_of(dir / "home") == 0700);
  CHECK(stored.in_use() == "hf_two");
}

TEST_CASE("A folder of our own is closed to others, one that is shared is not") {
  const TempDir dir;
  for (const auto& [before, after] :
       {std::pair{0755u, 0700u}, {02755u, 02755u}, {0775u, 0775u}, {01777u, 01777u}}) {
    const fs::path home = dir / std::to_string(before);
    fs::create_directory(home);
    REQUIRE(chmod(home.c_str(), before) == 0);
    tokens_in(home).save("x", "hf_x");
    CHECK(mode_of(home) == after);
  }
}

TEST_CASE("Tokens of others are kept, with all that is known of them") {
  const TempDir dir;
  const StoredTokens stored = tokens_in(dir.path());
  write_file(dir / "stored_tokens",
             "[oauth-ann]\nhf_token = hf_o\nrefresh_token = r%1\nexpires_at = 1800000000\n\n");
  write_file(dir / "token", "hf_o");
  stored.save("laptop", "hf_one");
  CHECK(read_text(dir / "stored_tokens") ==
        "[laptop]\nhf_token = hf_one\n\n"
        "[oauth-ann]\nhf_token = hf_o\nrefresh_token = r%1\nexpires_at = 1800000000\n\n");
  CHECK(stored.remove("laptop"));
  CHECK_FALSE(fs::exists(dir / "token"));  // it was in use
  write_file(dir / "token", "hf_other");
  CHECK(stored.remove("oauth-ann"));
  CHECK(read_text(dir / "token") == "hf_other");
  CHECK_FALSE(stored.remove("oauth-ann"));
  CHECK(stored.remove_all());
  CHECK_FALSE(fs::exists(dir / "token"));
  CHECK_FALSE(fs::exists(dir / "stored_tokens"));
  CHECK_FALSE(stored.remove_all());
}

TEST_CASE("HF_TOKEN_PATH moves both files, and a link is written through") {
  const TempDir dir;
  fs::create_directory(dir / "far");
  write_file(dir / "far/secret", "old");
  fs::create_directory(dir / "near");
  fs::create_symlink("../far/secret", dir / "near/token");
  const StoredTokens stored(Environment({{"HF_TOKEN_PATH", (dir / "near/token").string()}}));
  stored.save("x", "hf_x");
  CHECK(read_text(dir / "far/secret") == "hf_x");
  CHECK(fs::is_symlink(dir / "near/token"));
  CHECK(fs::exists(dir / "near/stored_tokens"));
}

TEST_CASE("The list is read as configparser reads it") {
  const auto tokens = parse_stored_tokens(
      "# a comment\n; another\n\n[a]\nHF_Token: hf_a\nempty =\nlong = one\n  two\n\n[b "
      "[c]]\r\nhf_token=hf=b\r\n",
      "list");
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0].name == "a");
  CHECK(tokens[0].token() == "hf_a");
  CHECK(tokens[0].field("empty").empty());
  CHECK(tokens[0].field("long") == "one\ntwo");
  CHECK(tokens[1].name == "b [c]");
  CHECK(tokens[1].token() == "hf=b");
  CHECK(parse_stored_tokens(stored_tokens_text(tokens), "list")[0].field("long") == "one\ntwo");
}

TEST_CASE("A list that cannot be read is not thrown away") {
  for (const char* text :
       {"hf_token = x\n", "[a]\n[a]\n", "[a]\nx = 1\nX = 2\n", "[a]\nnonsense\n", "[a]\n= x\n", "[]\n"}) {
    CAPTURE(text);
    CHECK(error_of([&] { parse_stored_tokens(text, "list"); }) == ErrorKind::integrity);
  }
  const TempDir dir;
  write_file(dir / "stored_tokens", "nonsense");
  CHECK(error_of([&] { tokens_in(dir.path()).save("x", "hf_x"); }) == ErrorKind::integrity);
  CHECK(read_text(dir / "stored_tokens") == "nonsense");
  CHECK_FALSE(fs::exists(dir / "token"));
}

TEST_CASE("A name that would break the list is refused") {
  const TempDir dir;
  for (const char* name : {"", "DEFAULT", "a\nb", " a", "a\x7f"})
    CHECK(error_of([&] { tokens_in(dir.path()).save(name, "hf_x"); }) == ErrorKind::usage);
}
