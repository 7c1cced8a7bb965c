// One exchange on its way: the hop it is at, what has come of it, and whom it is for.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "cache/http/lanes.h"
#include "cache/http/message.h"
#include "cache/http/rate_limit.h"

namespace hf::cache {

class Exchange;
class Handle;

// What all exchanges of a client share while they run.
struct Traffic {
  using Clock = std::chrono::steady_clock;
  explicit Traffic(std::uint64_t bytes_per_second) : limit(bytes_per_second) {}

  RateLimit limit;
  std::uint64_t bytes = 0;          // of bodies
  Clock::time_point now{};          // when the loop last came round
  std::chrono::nanoseconds idle{};  // the time in which servers could have sent something
  bool in_callback = false;         // libcurl is calling
  std::deque<Exchange*> paused;     // by the limit; who waits longest is first
};

class Exchange {
 public:
  Exchange(std::uint64_t number, Request asked, Receiver& taker, Traffic& traffic)
      : ticket(number), request(std::move(asked)), url(request.url), receiver(&taker), traffic_(traffic) {
    method = request.method;
  }

  const std::uint64_t ticket;
  const Request request;
  std::string url;  // of this hop
  Method method;
  Receiver* receiver;  // null: nobody waits for it any more
  Response response;
  std::exception_ptr thrown;

  Origin* home = nullptr;    // of the request's URL
  Origin* origin = nullptr;  // of this hop's
  Lane* lane = nullptr;
  Handle* handle = nullptr;  // while it is under way
  unsigned epoch = 0;        // of the lane's window when it began

  void begin_hop();
  bool with_bearer() const { return !request.bearer.empty() && origin == home; }

  // What libcurl hands over. Nothing is thrown: `thrown` keeps it.
  enum class Verdict { go_on, pause, end };
  Verdict take_header(std::string_view line);
  // After `pause` the same bytes come again when the transfer goes on.
  Verdict take_body(std::span<const std::byte> bytes);
  // The body is complete; tells the receiver of one without bytes.
  void complete();

  bool is_body_cut() const { return body_cut_; }
  bool has_too_many_headers() const;
  bool spoke_http2() const { return http2_; }
  // Since the last byte, or since the hop began, or since a pause ended.
  std::chrono::nanoseconds silence() const { return traffic_.idle - moved_at_; }
  void note_resumed() { moved_at_ = traffic_.idle; }
  // Whether less than 100 bytes a second came over the last `period`, a trickle that may never end.
  bool is_trickle(std::chrono::seconds period);

 private:
  template <class F>
  bool guarded(F&& f);
  bool deliver(std::span<const std::byte> bytes);
  void start_once();

  Traffic& traffic_;
  std::size_t header_bytes_ = 0;
  bool started_ = false, body_cut_ = false, http2_ = false;
  std::chrono::nanoseconds moved_at_{}, counted_from_{};
  std::uint64_t counted_bytes_ = 0;
};

}  // namespace hf::cache
