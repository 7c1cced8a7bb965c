#include "cache/mirror/journal.h"

#include <doctest/doctest.h>

using namespace hf::cache;

namespace {

const std::string kEtag(64, 'b'), kHash(64, 'c');
const std::string kHead = "hfpart 1 " + kEtag + " 1000\n";

}  // namespace

TEST_CASE("The last whole line of a journal counts") {
  CHECK(journal_head({kEtag, 1000, {}}) == kHead);
  const auto journal = parse_journal(kHead + journal_line({100, kHash}) + journal_line({200, kEtag}));
  REQUIRE(journal);
  CHECK(journal->etag == kEtag);
  CHECK(journal->size == 1000);
  CHECK(journal->last.bytes == 200);
  CHECK(journal->last.hash == kEtag);
  const auto cut = parse_journal(kHead + journal_line({100, kHash}) + "200 " + kHash);
  REQUIRE(cut);
  CHECK(cut->last.bytes == 100);
}

TEST_CASE("A journal that says nothing is none") {
  for (const std::string& text :
       {std::string(), std::string("hfpart 1"), kHead, "hfpart 2 " + kEtag + " 1000\n",
        "hfpart 1 ../x 1000\n100 " + kHash + "\n", "hfpart 1 " + kEtag + " x\n100 " + kHash + "\n",
        std::string(5000, '\0'), "\n\n\n" + kHead})
    CHECK_FALSE(parse_journal(text));
}

TEST_CASE("A damaged line ends the reading") {
  for (const char* line :
       {"\n", "x\n", "100\n", "50 hash\n", "2000 ", "18446744073709551616 ", "-1 ", "200  "}) {
    std::string text = kHead + journal_line({100, kHash}) + line;
    if (text.back() == ' ') text += kHash + "\n";
    const auto journal = parse_journal(text + journal_line({300, kHash}));
    REQUIRE(journal);
    CHECK(journal->last.bytes == 100);
  }
}

TEST_CASE("Marks only grow") {
  const auto journal = parse_journal(kHead + journal_line({200, kHash}) + journal_line({100, kHash}));
  REQUIRE(journal);
  CHECK(journal->last.bytes == 200);
}
