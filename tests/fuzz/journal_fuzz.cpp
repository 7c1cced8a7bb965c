#include "cache/hub/repo.h"
#include "cache/mirror/journal.h"
#include "fuzz/fuzz.h"

using namespace hf;
using namespace hf::cache;

// A journal that is believed says something possible, and says the same when it is written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto journal = parse_journal(fuzz::text_of(data, size));
  if (!journal) return 0;
  fuzz::require(is_etag(journal->etag), "an etag that is none");
  fuzz::require(journal->vouched_bytes() <= journal->size, "more than there is");
  std::string text = journal_head(journal->etag, journal->size) + owner_line(journal->owner);
  std::uint64_t last = 0;
  for (const PrefixMark& mark : journal->prefixes) {
    fuzz::require(mark.bytes > last && mark.bytes <= journal->size, "prefixes out of order");
    fuzz::require(is_etag(mark.hash) && mark.hash.size() == journal->etag.size(), "a hash that is none");
    last = mark.bytes;
    text += prefix_line(mark);
  }
  for (const BlockMark& mark : journal->blocks) {
    fuzz::require(mark.span.first < mark.span.end && mark.span.end <= journal->size, "an impossible block");
    fuzz::require(is_etag(mark.sha256) && mark.sha256.size() == 64, "a hash that is none");
    text += block_line(mark);
  }
  const auto again = parse_journal(text);
  fuzz::require(again && again->vouched_bytes() == journal->vouched_bytes() && again->etag == journal->etag &&
                    again->prefixes.size() == journal->prefixes.size() &&
                    again->blocks.size() == journal->blocks.size(),
                "another journal");
  return 0;
}
