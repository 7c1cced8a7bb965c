#include "cache/mirror/file_answer.h"

#include "base/escape.h"
#include "cache/http/headers.h"
#include "cache/hub/identity.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

std::string_view last_header(const Response& head, std::string_view name) {
  return head.hops.back().headers.find(name).value_or("");
}

std::string in_bytes(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

void check_identity(const Response& head, const TreeFile& file, std::string_view commit) {
  const Identity told = identity_of(head);
  // A server of plain files, as some mirrors are, names neither: that its bytes have the file's hash must do.
  const bool is_plain = head.hops.size() == 1 && told.etag.empty() && told.commit.empty();
  if (is_plain && (!told.size || *told.size == file.size)) return;
  if (told.etag.empty()) throw WrongAnswer{"the server names no ETag of the file", true};
  if (told.commit.empty()) throw WrongAnswer{"the server names no commit of the file (X-Repo-Commit)", true};
  if (told.commit != commit)
    throw WrongAnswer{"the server's file is of commit " + in_quotes(told.commit) + ", " +
                          std::string(commit) + " was asked for",
                      true};
  if (is_etag(told.etag) && told.etag.size() == file.etag().size() && told.etag != file.etag())
    throw WrongAnswer{"the server's file has etag " + told.etag + ", the revision's list says " + file.etag(),
                      true};
  if (told.size && *told.size != file.size)
    throw WrongAnswer{
        "the server has " + in_bytes(*told.size) + ", the revision's list says " + std::to_string(file.size),
        true};
}

std::uint64_t bytes_before(const Response& head, const TreeFile& file, std::uint64_t first) {
  const std::string_view encoding = last_header(head, "content-encoding");
  if (!encoding.empty() && encoding != "identity")
    throw WrongAnswer{"the server encodes the file as " + in_quotes(encoding) +
                      ", its plain bytes were asked for"};
  if (head.status() == 206) {
    const std::string_view value = last_header(head, "content-range");
    const auto range = parse_content_range(value);
    if (!range || range->first != first || (range->total && *range->total != file.size))
      throw WrongAnswer{"the server answers with range " + in_quotes(value.empty() ? "(none)" : value) +
                        ", \"bytes " + std::to_string(first) + "-…/" + std::to_string(file.size) +
                        "\" is expected"};
    return 0;
  }
  const auto length = parse_number(last_header(head, "content-length"));
  if (length && *length != file.size)
    throw WrongAnswer{"the server has " + in_bytes(*length) + ", the revision's list says " +
                      std::to_string(file.size)};
  return first;
}

std::string strong_etag(const Response& head) {
  const std::string_view etag = last_header(head, "etag");
  const bool quoted = etag.size() > 2 && etag.front() == '"' && etag.back() == '"';
  return quoted ? std::string(etag) : "";
}

bool is_expired(const Response& response) {
  return response.hops.size() > 1 && (response.status() == 403 || response.status() == 401) &&
         last_header(response, "x-error-code").empty();
}

}  // namespace hf::cache
