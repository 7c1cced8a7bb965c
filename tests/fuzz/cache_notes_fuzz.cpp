#include <cmath>

#include "cache/hub/repo.h"
#include "cache/mirror/local_metadata.h"
#include "cache/store/soft_lock.h"
#include "fuzz/fuzz.h"

using namespace hf;
using namespace hf::cache;

// A note on a file that is believed says something possible, and says the same when it is written again. A
// lock file may say anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  soft_lock_holder(text);
  const auto metadata = parse_metadata(text);
  if (!metadata) return 0;
  fuzz::require(is_etag(metadata->etag) && std::isfinite(metadata->time), "a note of nothing");
  const auto again = parse_metadata(metadata_text(*metadata));
  fuzz::require(again && again->commit == metadata->commit && again->etag == metadata->etag &&
                    again->time == metadata->time,
                "another note");
  return 0;
}
