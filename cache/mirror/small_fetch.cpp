#include "cache/mirror/small_fetch.h"

#include <algorithm>
#include <utility>

#include "cache/mirror/file_answer.h"
#include "cache/mirror/part_file.h"

namespace hf::cache {

SmallFetch::~SmallFetch() {
  if (ticket_ != 0) context_.hub.client().cancel(ticket_);
}

void SmallFetch::begin(bool) {
  context_.events.file_started(file_, 0);
  if (file_.size == 0)
    check_whole();  // needs no request
  else
    ask();
}

void SmallFetch::ask() {
  std::optional<ByteRange> range;
  if (!bytes_.empty()) range = ByteRange{bytes_.size()};
  Request request = context_.hub.file_request(context_.repo, context_.commit, file_.path, range);
  if (const auto left = context_.pauses.left(request.url); left.count() > 0)
    return later(left, [this] { ask(); });
  ++context_.report.resolves;
  ticket_ = context_.hub.client().start(std::move(request), *this);
}

void SmallFetch::start(const Response& head) {
  check_identity(head, file_, context_.commit);
  before_ = bytes_before(head, file_, bytes_.size());
  bytes_.reserve(file_.size);
}

void SmallFetch::write(std::span<const std::byte> bytes) {
  const std::size_t known = std::min<std::uint64_t>(before_, bytes.size());
  before_ -= known;
  bytes = bytes.subspan(known);
  if (bytes.size() > file_.size - bytes_.size())
    throw WrongAnswer{"the server sends more than the " + std::to_string(file_.size) +
                      " bytes of the revision's list"};
  bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  context_.report.bytes_fetched += bytes.size();
  if (!bytes.empty()) context_.events.advanced(file_, bytes.size());
}

void SmallFetch::done(Response response, std::exception_ptr thrown) {
  ticket_ = 0;
  note_answer(response);
  try {
    if (thrown) std::rethrow_exception(thrown);
    judge(response);
  } catch (const WrongAnswer& answer) {
    wrong(answer.what);
  } catch (const Error& error) {
    finish_failed(error);
  }
}

void SmallFetch::judge(const Response& response) {
  // However the answer ended: there is nothing more to ask for.
  if (response.ok() && bytes_.size() == file_.size) return check_whole();
  if (!response.failure.empty()) return again(response, response.failure);
  if (response.status() == 416)
    throw WrongAnswer{"the server has no bytes after " + std::to_string(bytes_.size())};
  if (!response.ok()) {
    const Error refused = context_.hub.refusal_of(response, subject());
    if (!response.is_passing() && !is_expired(response)) throw refused;
    return again(response, refused.what());
  }
  if (bytes_.size() < file_.size)
    return again(response, "the answer ends after " + std::to_string(bytes_.size()) + " of " +
                               std::to_string(file_.size) + " bytes");
  check_whole();
}

void SmallFetch::check_whole() {
  const auto bytes = std::as_bytes(std::span(bytes_));
  Hasher hasher(file_.hash_kind(), file_.size);
  hasher.update(bytes);
  const std::string etag = hasher.hex();
  if (etag != file_.etag())
    return wrong("the content's hash is " + etag + ", the revision's list says " + file_.etag());
  VerifiedFile verified{.job = job_};
  verified.sha256 = file_.hash_kind() == HashKind::sha256 ? etag : sha256_hex(bytes);
  verified.part = PartFile::write_whole(context_.parts_folder, context_.parts, file_, bytes);
  finish_verified(std::move(verified));
}

void SmallFetch::again(const Response& response, const std::string& why) {
  const bool progress = bytes_.size() - at_last_failure_ >= kWorthANewTry;
  at_last_failure_ = bytes_.size();
  if (const auto wait = wait_after(response, why, progress)) later(*wait, [this] { ask(); });
}

void SmallFetch::wrong(const std::string& what) {
  if (++wrong_ >= kMostWrongAnswers || file_.size == 0)
    return finish_failed(Error(ErrorKind::integrity, subject() + ": " + what));
  context_.events.file_restarted(file_, bytes_.size(), what);
  bytes_.clear();
  at_last_failure_ = 0;
  ask();
}

}  // namespace hf::cache
