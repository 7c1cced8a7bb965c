// What can go wrong between a client and a Hub, as a table: one row a way, with how a download must end.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hf::test {

enum class FaultKind {
  // The connection, before an answer
  refused,           // breaks, and for `at` ms nobody listens
  silent,            // nothing is answered
  drop_before_head,  // breaks before the first byte
  no_http,           // something that is not HTTP
  // The head of an answer
  drop_in_head,    // breaks after `at` bytes of it
  stall_in_head,   // nothing more comes after `at` bytes of it
  header_flood,    // headers without end
  endless_header,  // one header without end
  informational,   // 100 and 103 come first, which is allowed
  // How its body is framed
  chunked,          // no Content-Length
  cut_chunked,      // the same, breaks off after `at` bytes
  bad_chunk,        // the same, the length of a chunk is no number
  close_delimited,  // HTTP/1.0: the body ends with the connection
  cut_at_close,     // the same, `at` bytes early, which HTTP cannot tell
  gzip,             // encoded although plain bytes were asked for
  length_short,     // Content-Length is `at` less than what is sent
  length_long,      // Content-Length is `at` more
  garbage_after,    // bytes of no answer after the body
  endless_body,     // a body without end
  // Its body
  drop,     // breaks after `at` bytes
  close,    // the same in good order, as of a proxy that restarts
  stall,    // nothing more comes after `at` bytes
  slow,     // `at` bytes a second
  trickle,  // the first `at` bytes one by one
  // Refusals
  status,     // answers `status` with `header`
  gated,      // as a repository whose terms were not accepted
  disabled,   // as one that the Hub took down
  hidden,     // 401 without a code: as a private repository to strangers
  bad_token,  // as for a token that is none
  // Redirects
  redirect_loop,   // to itself
  redirect_chain,  // `at` redirects on the same host
  redirect_away,   // to another origin, which has the file; as the Hub does for LFS
  redirect_here,   // to a relative address with a query, as the Hub does for small files
  redirect_to,     // to `header`, where {here}, {away} and {file} stand for two hosts and the file's place
  redirect_slash,  // of the tree, to the same with a slash, as olah does
  no_location,     // 302 to nowhere
  expired_link,    // to the other origin, which answers 403
  expiring_link,   // to the other origin, which breaks off after `at` bytes and then answers 403
  // The file
  short_file,     // ends `at` bytes early, and the headers agree
  long_file,      // `at` bytes too many, and the headers agree
  wrong_content,  // one byte is another (which one: by the seed)
  wrong_first,    // the first byte is
  wrong_middle,
  wrong_last,
  other_bytes,   // all bytes are, and the headers are those of the right ones
  changed_file,  // other content of the same length under its own, right etag
  html_page,     // a page to log in at, as 200
  wrong_etag,    // of the right shape
  no_etag,
  weak_etag,
  bare_etag,  // without quotes
  no_commit,
  other_commit,
  wrong_range,  // 206, but of other bytes than those asked for
  wrong_total,  // 206 of a file of another size
  no_content_range,
  ignored_range,    // 200 and the whole file
  changed_storage,  // the other origin's own etag is another at each answer
  // The API
  cut_json,  // half of the answer
  no_json,
  empty_answer,
  deep_json,
  huge_number,
  no_sha,
  duplicate_path,
  unsafe_path,  // which one: by the seed
  file_and_folder,
  endless_pages,
  next_elsewhere,
  other_size,  // the tree says that files have `at` bytes
  wrong_oid,   // the tree has another hash of the right shape
  no_lfs,      // the tree tells LFS files as plain ones
  no_xet,      // the tree does not tell xet hashes
  warning,     // X-HF-Warning
};

struct Fault {
  FaultKind kind;
  std::string target = {};  // a part of the target of the requests that it happens to; empty: all
  int times = 1;            // how many of them; -1: each
  std::uint64_t at = 0;
  int status = 500;
  std::string header = {};  // "Name: value"
};

// How a download ends: some faults may be mended or refused, as the client likes.
struct Outcome {
  bool completes = true;
  std::optional<ErrorKind> fails = std::nullopt;

  bool allows(std::optional<ErrorKind> ended) const { return ended ? ended == fails : completes; }
};

// Which requests it makes sense for: those for files, for a revision's list or commit.
enum class FaultPlace { file, list, revision, both };

struct FaultRow {
  std::string_view name, what;
  FaultPlace place;
  Fault fault;           // its target and times are the user's
  Outcome once, always;  // happening to one request, to each of them
};

std::span<const FaultRow> fault_rows();
const FaultRow* find_fault(std::string_view name);  // nullptr where there is none

// "NAME[,target=PART][,times=N][,at=N][,status=N][,header=Name: value]", header last. Error{usage} for what
// is none.
Fault parse_fault(std::string_view text);

}  // namespace hf::test
