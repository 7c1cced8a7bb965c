// Which file an answer speaks of, by the headers that the Hub itself sent.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cache/http/message.h"

namespace hf::cache {

struct Identity {
  std::string etag;                   // plain; empty: not told
  std::optional<std::uint64_t> size;  // of the whole file
  std::string commit;                 // empty: not told
};

// Of the hops at the first one's origin, since a storage host's etags are its own. A redirect's own length is
// not the file's.
Identity identity_of(const Response& response);

}  // namespace hf::cache
