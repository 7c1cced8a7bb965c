#include "cache/hub/repo.h"
#include "cache/mirror/journal.h"
#include "fuzz/fuzz.h"

using namespace hf;
using namespace hf::cache;

// A journal that is believed says something possible, and says the same when it is written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto journal = parse_journal(fuzz::text_of(data, size));
  if (!journal) return 0;
  fuzz::require(is_etag(journal->etag) && is_etag(journal->last.hash), "a hash that is none");
  fuzz::require(journal->last.bytes > 0 && journal->last.bytes <= journal->size, "more than there is");
  const auto again = parse_journal(journal_head(*journal) + journal_line(journal->last));
  fuzz::require(again && again->last.bytes == journal->last.bytes && again->etag == journal->etag,
                "another journal");
  return 0;
}
