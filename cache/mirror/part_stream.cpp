#include "cache/mirror/part_stream.h"

#include <algorithm>
#include <utility>

#include "cache/mirror/file_answer.h"

namespace hf::cache {

PartStream::PartStream(StreamOwner& owner, Client& client, Request request, ByteSpan piece, bool direct)
    : owner_(owner),
      client_(client),
      at_(piece.first),
      end_(piece.end),
      asked_end_(piece.end),
      direct_(direct),
      begun_(Clock::now()),
      ticket_(client.start(std::move(request), *this)) {}

PartStream::~PartStream() {
  if (ticket_ != 0) client_.cancel(ticket_);
}

double PartStream::rate() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - answered_).count();
  return has_answered_ && seconds > 0 ? static_cast<double>(received_) / seconds : 0;
}

std::chrono::milliseconds PartStream::first_byte_after() const {
  const auto until = has_answered_ ? answered_ : Clock::now();
  return std::chrono::duration_cast<std::chrono::milliseconds>(until - begun_);
}

void PartStream::start(const Response& head) {
  has_answered_ = true;
  answered_ = Clock::now();
  owner_.stream_started(*this, head);
}

void PartStream::write(std::span<const std::byte> bytes) {
  const std::size_t known = std::min<std::uint64_t>(skip_, bytes.size());
  skip_ -= known;
  bytes = bytes.subspan(known);
  received_ += bytes.size();
  const auto mine = bytes.first(std::min<std::uint64_t>(bytes.size(), end_ - std::min(at_, end_)));
  if (!mine.empty()) {
    at_ += mine.size();
    owner_.stream_wrote(*this, at_ - mine.size(), mine);
  }
  // Where the piece is what was asked for, the server ends the answer by itself and the connection serves on.
  if (at_ >= end_ && end_ < asked_end_) throw PieceComplete{};
  if (mine.size() < bytes.size()) throw WrongAnswer{"the server sends more bytes than were asked for"};
}

void PartStream::take_whole(std::uint64_t size, std::uint64_t skipped) {
  end_ = asked_end_ = size;
  skip_ = skipped;
}

void PartStream::done(Response response, std::exception_ptr thrown) {
  ticket_ = 0;
  owner_.stream_done(*this, response, std::move(thrown));
}

}  // namespace hf::cache
