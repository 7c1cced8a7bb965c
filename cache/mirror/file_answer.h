// Whether what a server begins to send is the file that was asked for.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/http/client.h"
#include "cache/hub/answers.h"
#include "cache/mirror/ranges.h"

namespace hf::cache {

// The server sends something else: not an error yet, since a second try may go better.
struct WrongAnswer {
  std::string what;
  bool is_other_file = false;  // then what has come before does not belong to it either
};

// Throws WrongAnswer unless the Hub's own answer, the first hop, names the file's etag and size and the
// commit that was asked for. Only an etag that looks like the same kind of hash is compared. An answer
// without redirects that names neither etag nor commit passes: the hash of what it brings is compared in any
// case.
void check_identity(const Response& head, const TreeFile& file, std::string_view commit);

// How many bytes of the body come before byte `first`, which was asked for: none of a 206, `first` of a 200,
// of a server that knows no ranges. Throws WrongAnswer where the answer is of other bytes, of a file of
// another size, or encoded.
std::uint64_t bytes_before(const Response& head, const TreeFile& file, std::uint64_t first);

// The ETag of the address that served the bytes, where it is one that If-Range takes; else empty.
std::string strong_etag(const Response& head);

// A signed address on another host that has expired: asking the Hub again gives a new one. A refusal that
// names its reason in the Hub's own words is none.
bool is_expired(const Response& response);

}  // namespace hf::cache
