#include "support/fault.h"

#include <algorithm>

#include "base/escape.h"
#include "cache/http/headers.h"

namespace hf::test {
namespace {

using K = FaultKind;

constexpr Outcome kCompletes{true, std::nullopt};
constexpr Outcome fails(ErrorKind kind) { return {false, kind}; }
constexpr Outcome may_fail(ErrorKind kind) { return {true, kind}; }
constexpr Outcome kNetwork = fails(ErrorKind::network);
constexpr Outcome kIntegrity = fails(ErrorKind::integrity);
constexpr Outcome kDenied = fails(ErrorKind::denied);
constexpr Outcome kNotFound = fails(ErrorKind::not_found);

Fault at(K kind, std::uint64_t bytes) { return {.kind = kind, .at = bytes}; }
Fault answer(int status, std::string header = {}) {
  return {.kind = K::status, .status = status, .header = std::move(header)};
}
Fault to(std::string location) { return {.kind = K::redirect_to, .header = std::move(location)}; }

constexpr FaultPlace kFile = FaultPlace::file, kList = FaultPlace::list, kBoth = FaultPlace::both,
                     kRevision = FaultPlace::revision;

// clang-format off
const FaultRow kRows[] = {
    // The connection
    {"refused", "breaks, and nobody listens for 20 ms", kBoth, at(K::refused, 20), may_fail(ErrorKind::network), may_fail(ErrorKind::network)},
    {"silent", "accepts and answers nothing", kBoth, at(K::silent, 0), kCompletes, kNetwork},
    {"drop-before-head", "breaks before the first byte of the answer", kBoth, at(K::drop_before_head, 0), kCompletes, kNetwork},
    {"no-http", "another protocol answers", kBoth, at(K::no_http, 0), may_fail(ErrorKind::network), kNetwork},
    // The head
    {"drop-in-head", "breaks within the head", kBoth, at(K::drop_in_head, 40), kCompletes, kNetwork},
    {"stall-in-head", "nothing more comes within the head", kBoth, at(K::stall_in_head, 40), kCompletes, kNetwork},
    {"header-flood", "headers without end", kBoth, at(K::header_flood, 0), may_fail(ErrorKind::network), kNetwork},
    {"endless-header", "one header without end", kBoth, at(K::endless_header, 0), may_fail(ErrorKind::network), kNetwork},
    {"informational", "100 and 103 come before the answer", kBoth, at(K::informational, 0), kCompletes, kCompletes},
    // The framing
    {"chunked", "no Content-Length, in chunks", kBoth, at(K::chunked, 0), kCompletes, kCompletes},
    {"cut-chunked", "the chunks break off", kBoth, at(K::cut_chunked, 1000), kCompletes, may_fail(ErrorKind::network)},
    {"bad-chunk", "the length of a chunk is no number", kBoth, at(K::bad_chunk, 1000), may_fail(ErrorKind::network), may_fail(ErrorKind::network)},
    {"close-delimited", "HTTP/1.0, the body ends with the connection", kBoth, at(K::close_delimited, 0), kCompletes, kCompletes},
    {"cut-at-close", "the same, ten bytes early", kFile, at(K::cut_at_close, 10), kCompletes, may_fail(ErrorKind::network)},
    {"gzip", "encoded though plain bytes were asked for", kFile, at(K::gzip, 0), kCompletes, may_fail(ErrorKind::integrity)},
    {"length-short", "Content-Length is ten less than what is sent", kFile, at(K::length_short, 10), kCompletes, may_fail(ErrorKind::integrity)},
    {"length-long", "Content-Length is ten more than what is sent", kFile, at(K::length_long, 10), kCompletes, may_fail(ErrorKind::integrity)},
    {"garbage-after", "bytes of no answer after the body", kBoth, at(K::garbage_after, 0), kCompletes, kCompletes},
    {"endless-body", "a body without end", kFile, at(K::endless_body, 0), kCompletes, kIntegrity},
    // The body
    {"drop", "breaks after 100,000 bytes", kFile, at(K::drop, 100'000), kCompletes, kCompletes},
    {"drop-at-once", "breaks after the head", kBoth, at(K::drop, 0), kCompletes, kNetwork},
    {"drop-list", "breaks after ten bytes of a list", kList, at(K::drop, 10), kCompletes, kNetwork},
    {"close", "ends in good order after 100,000 bytes", kFile, at(K::close, 100'000), kCompletes, kCompletes},
    {"stall", "nothing more comes after 1,000 bytes", kBoth, at(K::stall, 1000), kCompletes, may_fail(ErrorKind::network)},
    {"slow", "4 MB/s", kFile, at(K::slow, 4'000'000), kCompletes, kCompletes},
    {"trickle", "the first 200 bytes one by one", kBoth, at(K::trickle, 200), kCompletes, kCompletes},
    // Refusals
    {"400", "the request is said to be wrong", kBoth, answer(400), kNetwork, kNetwork},
    {"401", "the Hub wants a token", kBoth, answer(401), kDenied, kDenied},
    {"403", "forbidden", kBoth, answer(403), kDenied, kDenied},
    {"404", "not found, without a code", kBoth, answer(404), kNotFound, kNotFound},
    {"404-entry", "no such file", kFile, answer(404, "X-Error-Code: EntryNotFound"), kNotFound, kNotFound},
    {"404-revision", "no such revision", kList, answer(404, "X-Error-Code: RevisionNotFound"), kNotFound, kNotFound},
    {"404-repo", "no such repository", kBoth, answer(404, "X-Error-Code: RepoNotFound"), kNotFound, kNotFound},
    {"408", "the server waited too long", kBoth, answer(408), kCompletes, kNetwork},
    {"410", "gone", kBoth, answer(410), kNotFound, kNotFound},
    {"416", "no such range", kFile, answer(416), kCompletes, kIntegrity},
    {"429-now", "too many requests, no wait", kBoth, answer(429, "RateLimit: \"api\";r=0;t=0"), kCompletes, kNetwork},
    {"429-seconds", "too many requests, wait one second", kBoth, answer(429, "Retry-After: 1"), kCompletes, kNetwork},
    {"429-date", "too many requests until a date that is past", kBoth, answer(429, "Retry-After: Wed, 01 Jan 2020 00:00:00 GMT"), kCompletes, kNetwork},
    {"429-day", "too many requests, wait a day", kBoth, answer(429, "Retry-After: 86400"), kNetwork, kNetwork},
    {"429-absurd", "too many requests, and a wait that is none", kBoth, answer(429, "Retry-After: -99999999999999999999"), kCompletes, kNetwork},
    {"500", "the server failed", kBoth, answer(500), kCompletes, kNetwork},
    {"501", "not implemented", kBoth, answer(501), may_fail(ErrorKind::network), kNetwork},
    {"502", "its upstream failed", kBoth, answer(502), kCompletes, kNetwork},
    {"503", "the server is busy", kBoth, answer(503), kCompletes, kNetwork},
    {"503-wait", "the server is busy and says how long", kBoth, answer(503, "Retry-After: 0"), kCompletes, kNetwork},
    {"504", "its upstream is late", kBoth, answer(504), kCompletes, kNetwork},
    {"507", "the server's disk is full", kBoth, answer(507), kCompletes, kNetwork},
    {"gated", "the terms are not accepted", kBoth, at(K::gated, 0), kDenied, kDenied},
    {"disabled", "the Hub took it down", kBoth, at(K::disabled, 0), kDenied, kDenied},
    {"hidden", "401 without a code: private or absent", kBoth, at(K::hidden, 0), kDenied, kDenied},
    {"bad-token", "the token is none", kBoth, at(K::bad_token, 0), kDenied, kDenied},
    // Redirects
    {"redirect-loop", "to itself", kBoth, at(K::redirect_loop, 0), kCompletes, kNetwork},
    {"redirect-10", "ten on one host", kBoth, at(K::redirect_chain, 10), kCompletes, kCompletes},
    {"redirect-11", "eleven on one host", kBoth, at(K::redirect_chain, 11), kNetwork, kNetwork},
    {"redirect-away", "to the storage, as for LFS files", kFile, at(K::redirect_away, 0), kCompletes, kCompletes},
    {"redirect-here", "to a relative address with a query", kFile, at(K::redirect_here, 0), kCompletes, kCompletes},
    {"redirect-no-scheme", "to //host/…", kFile, to("//{away}/{file}"), kCompletes, kCompletes},
    {"redirect-user-info", "to a host behind a user that looks like the Hub", kFile, to("http://{here}@{away}/{file}"), kCompletes, kCompletes},
    {"redirect-file", "to file://", kBoth, to("file:///etc/passwd"), kNetwork, kNetwork},
    {"redirect-ftp", "to ftp://", kBoth, to("ftp://{away}/x"), kNetwork, kNetwork},
    {"redirect-no-url", "to what is no URL", kBoth, to("http://[::"), kNetwork, kNetwork},
    {"redirect-slash", "of the tree, to the same with a slash", kList, at(K::redirect_slash, 0), kCompletes, kCompletes},
    {"no-location", "302 to nowhere", kBoth, at(K::no_location, 0), may_fail(ErrorKind::network), kNetwork},
    {"expired-link", "to the storage, which answers 403", kFile, at(K::expired_link, 0), kCompletes, kNetwork},
    {"expiring-link", "to the storage, which answers 403 after 100,000 bytes", kFile, at(K::expiring_link, 100'000), kCompletes, kCompletes},
    // The file
    {"short-file", "ten bytes are missing, and the headers agree", kFile, at(K::short_file, 10), kCompletes, kIntegrity},
    {"long-file", "ten bytes too many, and the headers agree", kFile, at(K::long_file, 10), kCompletes, kIntegrity},
    {"wrong-content", "some byte is another", kFile, at(K::wrong_content, 0), kCompletes, kIntegrity},
    {"wrong-first", "the first byte is another", kFile, at(K::wrong_first, 0), kCompletes, kIntegrity},
    {"wrong-middle", "the middle byte is another", kFile, at(K::wrong_middle, 0), kCompletes, kIntegrity},
    {"wrong-last", "the last byte is another", kFile, at(K::wrong_last, 0), kCompletes, kIntegrity},
    {"other-bytes", "all bytes are others, with the right etag", kFile, at(K::other_bytes, 0), kCompletes, kIntegrity},
    {"changed-file", "another file of that length, with its etag", kFile, at(K::changed_file, 0), kCompletes, kIntegrity},
    {"html-page", "a page to log in at, as 200", kFile, at(K::html_page, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"wrong-etag", "another etag than the tree's", kFile, at(K::wrong_etag, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"no-etag", "no etag", kFile, at(K::no_etag, 0), may_fail(ErrorKind::integrity), may_fail(ErrorKind::integrity)},
    {"weak-etag", "W/ before the etag", kFile, at(K::weak_etag, 0), kCompletes, kCompletes},
    {"bare-etag", "no quotes around the etag", kFile, at(K::bare_etag, 0), kCompletes, kCompletes},
    {"no-commit", "no X-Repo-Commit", kFile, at(K::no_commit, 0), may_fail(ErrorKind::integrity), may_fail(ErrorKind::integrity)},
    {"other-commit", "X-Repo-Commit is another", kFile, at(K::other_commit, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"wrong-range", "206 of other bytes than those asked for", kFile, at(K::wrong_range, 0), kCompletes, may_fail(ErrorKind::integrity)},
    {"wrong-total", "206 of a file of another size", kFile, at(K::wrong_total, 0), kCompletes, may_fail(ErrorKind::integrity)},
    {"no-content-range", "206 that does not say of what", kFile, at(K::no_content_range, 0), kCompletes, may_fail(ErrorKind::integrity)},
    {"ignored-range", "200 and the whole file", kFile, at(K::ignored_range, 0), kCompletes, kCompletes},
    {"changed-storage", "the storage's etag is another at each answer", kFile, at(K::changed_storage, 0), kCompletes, kCompletes},
    // The API
    {"cut-json", "half of the answer", kList, at(K::cut_json, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"no-json", "no JSON", kList, at(K::no_json, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"empty-answer", "200 and nothing", kList, at(K::empty_answer, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"html-list", "a page to log in at, as 200", kList, at(K::html_page, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"deep-json", "100,000 brackets", kList, at(K::deep_json, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"endless-json", "a list without end", kList, at(K::endless_body, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"no-sha", "the revision has no commit", kRevision, at(K::no_sha, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"huge-number", "a size of 10^40", kList, at(K::huge_number, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"duplicate-path", "a path stands twice", kList, at(K::duplicate_path, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"unsafe-path", "a path that leads out, or is no name", kList, at(K::unsafe_path, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"file-and-folder", "a path is both", kList, at(K::file_and_folder, 0), may_fail(ErrorKind::integrity), kIntegrity},
    {"endless-pages", "each page has a next one", kList, at(K::endless_pages, 0), kCompletes, kIntegrity},
    {"next-elsewhere", "the next page is on another host", kList, at(K::next_elsewhere, 0), kIntegrity, kIntegrity},
    {"other-size", "the tree has another size", kList, at(K::other_size, 12'345), kIntegrity, kIntegrity},
    {"wrong-oid", "the tree has another hash", kList, at(K::wrong_oid, 0), kIntegrity, kIntegrity},
    {"no-lfs", "the tree tells LFS files as plain ones", kList, at(K::no_lfs, 0), kIntegrity, kIntegrity},
    {"no-xet", "the tree has no xet hashes", kList, at(K::no_xet, 0), kCompletes, kCompletes},
    {"warning", "X-HF-Warning", kBoth, at(K::warning, 0), kCompletes, kCompletes},
};
// clang-format on

std::uint64_t number_of(std::string_view text, std::string_view whole) {
  const auto number = cache::parse_number(text);
  if (!number)
    throw Error(ErrorKind::usage, "fault " + in_quotes(whole) + ": " + in_quotes(text) + " is no number");
  return *number;
}

// "key=value" of a fault's description; `rest` is all that follows, since a header may hold commas.
bool set_field(Fault& fault, std::string_view key, std::string_view value, std::string_view rest,
               std::string_view whole) {
  if (key == "header") {
    fault.header = rest;
    return true;
  }
  if (key == "target")
    fault.target = value;
  else if (key == "times")
    fault.times = value == "-1" ? -1 : static_cast<int>(number_of(value, whole));
  else if (key == "at")
    fault.at = number_of(value, whole);
  else if (key == "status")
    fault.status = static_cast<int>(number_of(value, whole));
  else
    throw Error(ErrorKind::usage, "fault " + in_quotes(whole) + ": " + in_quotes(key) +
                                      " is none of target, times, at, status, header");
  return false;
}

}  // namespace

std::span<const FaultRow> fault_rows() { return kRows; }

const FaultRow* find_fault(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const FaultRow& row) { return row.name == name; });
  return found == std::end(kRows) ? nullptr : found;
}

Fault parse_fault(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(','));
  const FaultRow* row = find_fault(name);
  if (row == nullptr) throw Error(ErrorKind::usage, "fault " + in_quotes(name) + ": there is no such one");
  Fault fault = row->fault;
  for (std::size_t at = name.size() + 1; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equals = std::min(text.find('=', at), end);
    const std::size_t value = std::min(equals + 1, text.size());
    if (set_field(fault, text.substr(at, equals - at), text.substr(value, end - std::min(value, end)),
                  text.substr(value), text))
      break;
    at = end + 1;
  }
  return fault;
}

}  // namespace hf::test
