#include "cache/http/exchange.h"

#include <algorithm>

namespace hf::cache {
namespace {

constexpr std::size_t kMostHeaderBytes = 256 << 10;
constexpr std::size_t kMostErrorBody = 64 << 10;
constexpr std::uint64_t kTrickle = 100;  // bytes a second

// "HTTP/1.1 200 OK" -> 200.
int status_in(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  return static_cast<int>(parse_number(line.substr(space + 1, 3)).value_or(0));
}

}  // namespace

void Exchange::begin_hop() {
  response.hops.push_back({url, 0, {}});
  response.body.clear();
  header_bytes_ = 0;
  body_cut_ = http2_ = false;
  moved_at_ = counted_from_ = traffic_.idle;
  counted_bytes_ = 0;
}

// Exceptions must not pass through C: they are kept until libcurl has returned.
template <class F>
bool Exchange::guarded(F&& f) {
  if (receiver == nullptr) return false;
  const bool nested = std::exchange(traffic_.in_callback, true);
  bool good = false;
  try {
    good = f() && receiver != nullptr;
  } catch (...) {
    thrown = std::current_exception();
  }
  traffic_.in_callback = nested;
  return good;
}

bool Exchange::has_too_many_headers() const { return header_bytes_ > kMostHeaderBytes; }

Exchange::Verdict Exchange::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (has_too_many_headers()) return Verdict::end;
  const bool good = guarded([&] {
    moved_at_ = traffic_.idle;
    Hop& hop = response.hops.back();
    if (line.starts_with("HTTP/")) {  // also after "100 Continue"
      hop.headers.clear();
      hop.status = status_in(line);
      http2_ = line.starts_with("HTTP/2");
    } else if (!started_ && response.body.empty()) {  // not a trailer
      hop.headers.add_line(line);
    }
    return true;
  });
  return good ? Verdict::go_on : Verdict::end;
}

Exchange::Verdict Exchange::take_body(std::span<const std::byte> bytes) {
  moved_at_ = traffic_.idle;
  if (traffic_.limit.is_on()) {
    const auto now = Traffic::Clock::now();
    if (receiver != nullptr && traffic_.limit.free_at() > now) {
      traffic_.paused.push_back(this);
      return Verdict::pause;
    }
    traffic_.limit.took(bytes.size(), now);
  }
  counted_bytes_ += bytes.size();
  traffic_.bytes += bytes.size();
  return guarded([&] { return deliver(bytes); }) ? Verdict::go_on : Verdict::end;
}

bool Exchange::deliver(std::span<const std::byte> bytes) {
  if (response.ok()) {
    start_once();
    if (receiver != nullptr) receiver->write(bytes);
    return true;
  }
  const std::size_t room = kMostErrorBody - response.body.size();
  body_cut_ = bytes.size() > room;
  response.body.append(reinterpret_cast<const char*>(bytes.data()), std::min(room, bytes.size()));
  return !body_cut_;
}

void Exchange::start_once() {
  if (std::exchange(started_, true)) return;
  receiver->start(response);
}

void Exchange::complete() {
  guarded([&] {
    if (response.ok()) start_once();
    return true;
  });
}

bool Exchange::is_trickle(std::chrono::seconds period) {
  if (traffic_.idle - counted_from_ < period) return false;
  const bool slow = counted_bytes_ < kTrickle * static_cast<std::uint64_t>(period.count());
  counted_from_ = traffic_.idle;
  counted_bytes_ = 0;
  return slow && !traffic_.limit.is_on();
}

}  // namespace hf::cache
