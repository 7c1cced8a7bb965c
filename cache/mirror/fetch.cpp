#include "cache/mirror/fetch.h"

#include <algorithm>

#include "base/escape.h"
#include "cache/http/backoff.h"

namespace hf::cache {
namespace {

constexpr int kMostWrongAnswers = 2;
constexpr std::uint64_t kWorthANewTry = 64
                                        << 10;  // bytes of progress; fewer do not prove that the line works

// The server sends something else than the file: not an error yet, since a second try may go better.
struct WrongAnswer {
  std::string what;
};

class FileSink : public Sink {
 public:
  FileSink(Partial& partial, Progress& progress) : partial_(partial), progress_(progress) {}

  void start(const Response& head) override {
    check_etag(head);
    const std::uint64_t size = partial_.file().size;
    if (head.status() == 206) {
      const auto value = head.hops.back().headers.find("content-range");
      const auto range = parse_content_range(value.value_or(""));
      if (!range || range->first != partial_.size() || (range->total && *range->total != size))
        throw WrongAnswer{"the server answers with range " + in_quotes(value.value_or("(none)")) +
                          ", \"bytes " + std::to_string(partial_.size()) + "-…/" + std::to_string(size) +
                          "\" is expected"};
      return;
    }
    const auto length = head.hops.back().headers.find("content-length");
    const auto bytes = parse_number(length.value_or(""));
    if (bytes && *bytes != size)
      throw WrongAnswer{"the server has " + std::to_string(*bytes) + " bytes, the revision's list says " +
                        std::to_string(size)};
    to_skip_ = partial_.size();  // ranges are not served here: the front comes again
  }

  void write(std::span<const std::byte> bytes) override {
    const std::size_t skipped = std::min<std::uint64_t>(to_skip_, bytes.size());
    to_skip_ -= skipped;
    bytes = bytes.subspan(skipped);
    if (bytes.size() > partial_.file().size - partial_.size())
      throw WrongAnswer{"the server sends more than the " + std::to_string(partial_.file().size) +
                        " bytes of the revision's list"};
    if (bytes.empty()) return;
    partial_.append(bytes);
    progress_.advance(bytes.size());
  }

 private:
  // Storage servers have ETags of their own; only what looks like the same kind of hash is compared.
  void check_etag(const Response& head) const {
    const auto linked = head.find("x-linked-etag");
    const std::string etag =
        plain_etag(linked ? *linked : head.hops.front().headers.find("etag").value_or(""));
    const std::string& expected = partial_.file().etag();
    if (is_etag(etag) && etag.size() == expected.size() && etag != expected)
      throw WrongAnswer{"the server's file has etag " + etag + ", the revision's list says " + expected};
  }

  Partial& partial_;
  Progress& progress_;
  std::uint64_t to_skip_ = 0;
};

// A signed address on another host that has expired; asking the Hub again gives a new one.
bool is_expired(const Response& response) {
  return response.hops.size() > 1 && (response.status() == 403 || response.status() == 401);
}

// What the wait before the next attempt depends on.
struct Ended {
  int status = 0;
  std::optional<unsigned> requested_wait = {};
};

// One request. Throws WrongAnswer when what has arrived cannot be the file; else returns why it is not
// complete, empty when it is.
std::string attempt(const Hub& hub, const Repo& repo, std::string_view commit, Partial& partial,
                    Progress& progress, Ended& ended) {
  const TreeFile& file = partial.file();
  FileSink sink(partial, progress);
  const auto range = partial.size() > 0 ? std::optional(ByteRange{partial.size()}) : std::nullopt;
  const Response response = hub.client().exchange(hub.file_request(repo, commit, file.path, range), sink);
  ended = {response.failure.empty() ? response.status() : 0, response.requested_wait()};
  if (!response.failure.empty()) return response.failure;
  if (response.status() == 416)
    throw WrongAnswer{"the server has no bytes after " + std::to_string(partial.size()) +
                      ", the revision's list says " + std::to_string(file.size)};
  if (!response.ok()) {
    const Error refused = hub.refusal_of(response, escaped(file.path));
    if (response.is_passing() || is_expired(response)) return std::string(refused.what());
    throw refused;
  }
  if (!partial.is_complete())
    return "the answer ends after " + std::to_string(partial.size()) + " of " + std::to_string(file.size) +
           " bytes";
  if (!partial.is_right())
    throw WrongAnswer{"the content's hash is " + partial.hash() + ", the revision's list says " +
                      file.etag()};
  return "";
}

}  // namespace

void fetch(const Hub& hub, const Repo& repo, std::string_view commit, Partial& partial, Progress& progress) {
  const std::string subject = escaped(partial.file().path, 1000);
  Backoff backoff(hub.client().options().retry);
  int wrong = 0;
  while (!partial.is_right()) {
    const std::uint64_t before = partial.size();
    Ended ended;
    std::string failure;
    try {
      // Also what is complete from the start: an empty file's bytes, or those of a leftover.
      if (partial.is_complete())
        throw WrongAnswer{"the revision's list says hash " + partial.file().etag() + ", its bytes have " +
                          partial.hash()};
      failure = attempt(hub, repo, commit, partial, progress, ended);
    } catch (const WrongAnswer& answer) {
      if (++wrong >= kMostWrongAnswers || partial.file().size == 0) {
        partial.discard();
        throw Error(ErrorKind::integrity, subject + ": " + answer.what);
      }
      partial.restart();
      continue;
    }
    if (failure.empty()) return;
    if (partial.size() - before >= kWorthANewTry) backoff.reset();
    const auto wait = backoff.next(ended.status, ended.requested_wait);
    if (!wait) throw Error(ErrorKind::network, subject + ": " + failure);
    wait_for(*wait);
  }
}

}  // namespace hf::cache
