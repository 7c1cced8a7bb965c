#include "cache/mirror/local_metadata.h"

#include <doctest/doctest.h>

using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c'), kEtag(64, 'e');

}  // namespace

TEST_CASE("Metadata is written as Python writes it") {
  const auto text = [](double time) { return metadata_text({kCommit, kEtag, time}); };
  CHECK(text(1796069539.029685) == kCommit + "\n" + kEtag + "\n1796069539.029685\n");
  CHECK(text(1796069539.0) == kCommit + "\n" + kEtag + "\n1796069539.0\n");
  CHECK(text(1796069539.1) == kCommit + "\n" + kEtag + "\n1796069539.1\n");
}

TEST_CASE("Metadata is read back, with spaces and without the last newline") {
  for (const std::string& text :
       {metadata_text({kCommit, kEtag, 12.5}), kCommit + " \r\n" + kEtag + "\r\n 12.5 ",
        kCommit + "\n" + kEtag + "\n1.25e1\nmore\n"}) {
    CAPTURE(text);
    const auto metadata = parse_metadata(text);
    REQUIRE(metadata);
    CHECK(metadata->commit == kCommit);
    CHECK(metadata->etag == kEtag);
    CHECK(metadata->time == 12.5);
  }
}

TEST_CASE("Metadata that is damaged is none") {
  for (const std::string& text :
       {std::string(), std::string("\n\n\n"), kCommit + "\n" + kEtag, kCommit + "\n" + kEtag + "\n",
        kCommit + "\n" + kEtag + "\nnow\n", kCommit + "\n" + kEtag + "\n12.5x\n",
        kCommit + "\n" + kEtag + "\nnan\n", kCommit + "\n" + kEtag + "\ninf\n", kCommit + "\n../x\n12.5\n",
        kCommit + "\n\n12.5\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_metadata(text));
  }
}

TEST_CASE("Metadata holds for a file that was changed up to a second later") {
  const LocalMetadata metadata{kCommit, kEtag, 100};
  CHECK(metadata.holds_for(50));
  CHECK(metadata.holds_for(101));
  CHECK_FALSE(metadata.holds_for(101.5));
}
