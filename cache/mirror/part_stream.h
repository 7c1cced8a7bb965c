// One request for a piece of a large file.
#pragma once
#include <chrono>
#include <cstdint>
#include <exception>
#include <span>

#include "cache/http/client.h"
#include "cache/mirror/ranges.h"

namespace hf::cache {

class PartStream;

class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  // May throw, which ends the exchange.
  virtual void stream_started(PartStream& stream, const Response& head) = 0;
  virtual void stream_wrote(PartStream& stream, std::uint64_t first, std::span<const std::byte> bytes) = 0;
  virtual void stream_done(PartStream& stream, const Response& response, std::exception_ptr thrown) = 0;
};

// What a stream ends itself with when its piece is complete and the answer goes on: another one brings the
// rest.
struct PieceComplete {};

class PartStream final : public Receiver {
 public:
  // `direct`: straight to where the file lies, not by way of the Hub.
  PartStream(StreamOwner& owner, Client& client, Request request, ByteSpan piece, bool direct);
  ~PartStream() override;

  ByteSpan rest() const { return {at_, end_}; }  // what it has still to bring
  bool direct() const { return direct_; }
  bool has_answered() const { return has_answered_; }
  void shorten(std::uint64_t end) { end_ = end; }  // another one brings the rest
  // The answer is the whole file of `size` bytes, `skipped` of which are here.
  void take_whole(std::uint64_t size, std::uint64_t skipped);
  double rate() const;  // bytes a second so far
  std::chrono::milliseconds first_byte_after() const;

 private:
  using Clock = std::chrono::steady_clock;

  void start(const Response& head) override;
  void write(std::span<const std::byte> bytes) override;
  void done(Response response, std::exception_ptr thrown) override;

  StreamOwner& owner_;
  Client& client_;
  std::uint64_t at_, end_, skip_ = 0, received_ = 0;
  std::uint64_t asked_end_;
  const bool direct_;
  bool has_answered_ = false;
  Clock::time_point begun_, answered_;
  Client::Ticket ticket_ = 0;
};

}  // namespace hf::cache
