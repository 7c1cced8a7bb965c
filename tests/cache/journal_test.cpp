#include "cache/mirror/journal.h"

#include <doctest/doctest.h>

using namespace hf::cache;

namespace {

const std::string kEtag(64, 'b'), kHash(64, 'c'), kSha1(40, 'd');
const std::string kHead = journal_head(kEtag, 1000);

}  // namespace

TEST_CASE("A journal tells owner, prefixes and blocks") {
  const PartOwner owner{"box", "0f-1e", "pid:[1]", 4711, 99};
  const auto journal = parse_journal(kHead + owner_line(owner) + prefix_line({100, kHash}) +
                                     block_line({{500, 600}, kEtag}) + prefix_line({200, kEtag}));
  REQUIRE(journal);
  CHECK(journal->etag == kEtag);
  CHECK(journal->size == 1000);
  CHECK(journal->owner == owner);
  REQUIRE(journal->prefixes.size() == 2);
  CHECK(journal->prefixes[1].bytes == 200);
  CHECK(journal->prefixes[1].hash == kEtag);
  REQUIRE(journal->blocks.size() == 1);
  CHECK(journal->blocks[0].span == ByteSpan{500, 600});
  CHECK(journal->vouched_bytes() == 300);
}

TEST_CASE("A journal without a line vouches for nothing") {
  const auto journal = parse_journal(kHead);
  REQUIRE(journal);
  CHECK(journal->vouched_bytes() == 0);
}

TEST_CASE("Bytes that two lines speak of count once") {
  const auto journal = parse_journal(kHead + prefix_line({550, kHash}) + block_line({{500, 600}, kEtag}) +
                                     block_line({{500, 600}, kHash}));
  REQUIRE(journal);
  CHECK(journal->vouched_bytes() == 600);
}

TEST_CASE("Of two lines for one prefix and of two owners the later one counts") {
  const PartOwner first{"a", "b", "c", 1, 1}, second{"d", "e", "f", 2, 2};
  const auto journal = parse_journal(kHead + owner_line(first) + prefix_line({100, kHash}) + "\n" +
                                     owner_line(second) + prefix_line({100, kEtag}));
  REQUIRE(journal);
  CHECK(journal->owner == second);
  REQUIRE(journal->prefixes.size() == 1);
  CHECK(journal->prefixes[0].hash == kEtag);
}

TEST_CASE("Damaged lines are left out and the others count") {
  for (const std::string& line :
       {std::string("prefix 200"), std::string("prefix x ") + kHash, "prefix 1001 " + kHash,
        "prefix 0 " + kHash, "prefix 200 " + kSha1, "prefix 200 " + std::string(64, 'x'),
        "block 10 0 " + kHash, "block 990 11 " + kHash, "block 18446744073709551615 2 " + kHash,
        "block 1 2 " + kSha1, std::string("owner a b c x 1"), std::string(""), std::string("   "),
        std::string(5, '\0'), "prefix  200 " + kHash, "prefix 200 " + kHash + " "}) {
    CAPTURE(line);
    const auto journal = parse_journal(kHead + line + "\n" + prefix_line({100, kHash}));
    REQUIRE(journal);
    CHECK(journal->vouched_bytes() == 100);
    CHECK(journal->owner == PartOwner{});
  }
  // The last line of a process that was killed.
  const auto journal = parse_journal(kHead + prefix_line({100, kHash}) + "prefix 200 " + kHash);
  REQUIRE(journal);
  CHECK(journal->vouched_bytes() == 100);
}

TEST_CASE("What is no journal") {
  for (const std::string& text :
       {std::string(), std::string("\n"), kHead.substr(0, kHead.size() - 1),
        std::string("hfpart 1 ") + kEtag + " 5\n", "hfpart 2 " + kEtag + "\n",
        std::string("hfpart 2 ../../x 5\n"), "hfpart 2 " + kEtag + " -1\n", std::string(1000, '\xff')}) {
    CAPTURE(text);
    CHECK_FALSE(parse_journal(text));
  }
}
