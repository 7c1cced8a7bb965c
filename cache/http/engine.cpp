#include "cache/http/engine.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "cache/http/failure.h"
#include "cache/http/url.h"

namespace hf::cache {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostRedirects = 10;
constexpr std::size_t kStreamsOnOne = 25;      // of a connection
constexpr std::size_t kSharedConnections = 4;  // to one host
constexpr std::size_t kIdleConnections = 128;
constexpr milliseconds kLongestWait{50};   // before the user's wish to stop is looked at again
constexpr milliseconds kLongestStep{250};  // of our own work that counts as a server's silence
constexpr std::chrono::seconds kTrickleTime{60};
constexpr int kPatience = 6;  // stall timeouts, with a stream whose connection is busy with others

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

Engine::Engine(const ClientOptions& options)
    : options_(options),
      traffic_(options.bytes_per_second),
      reactor_(kStreamsOnOne,
               std::min(kSharedConnections, std::max<std::size_t>(options.most_connections, 1)),
               kIdleConnections),
      origins_(options_),
      handles_(options_, traffic_, reactor_) {}

Engine::~Engine() {
  for (const auto& handle : handles_.all())
    if (handle->exchange() != nullptr) reactor_.remove(handle->easy(), handle->set());
}

Client::Ticket Engine::start(Request request, Receiver& receiver) {
  const Client::Ticket ticket = ++last_ticket_;
  auto& exchange =
      *exchanges_.emplace(ticket, std::make_unique<Exchange>(ticket, std::move(request), receiver, traffic_))
           .first->second;
  try {
    exchange.home = &origins_.of(exchange.url);
    enqueue(exchange);
  } catch (const Error&) {
    exchange.thrown = std::current_exception();
    finish(exchange);
  }
  return ticket;
}

void Engine::cancel(Client::Ticket ticket) {
  const auto found = exchanges_.find(ticket);
  if (found == exchanges_.end()) return;
  found->second->receiver = nullptr;
  cancelled_.push_back(ticket);
}

std::size_t Engine::window(std::string_view url) { return origins_.of(url).window(); }

const Client::Statistics& Engine::statistics() {
  statistics_.bytes = traffic_.bytes;
  return statistics_;
}

void Engine::run_until(const std::function<bool()>& done) {
  if (traffic_.in_callback)
    throw Error(ErrorKind::internal, "the network's loop: run from within a receiver's start() or write()");
  traffic_.now = Traffic::Clock::now();
  while (!done()) {
    check_interrupted();
    step();
  }
}

void Engine::step() {
  note_time();
  const bool ran = reactor_.run_due(), delivered = deliver_finished();
  const bool told = ran || delivered;
  drop_cancelled();
  resume_paused();
  const bool began = dispatch();
  reactor_.kick();
  if (collect() || told || began || has_new_ || !finished_.empty() || !cancelled_.empty()) {
    // What has begun goes on its way first; then whoever waits for it is asked whether that was all.
    return;
  }
  const auto until = traffic_.now + kLongestWait;
  reactor_.wait(traffic_.paused.empty() ? until : std::min(until, traffic_.limit.free_at()));
  collect();
  check_stalls();
}

// The clock of silence: time that this program spent on something else counts little.
void Engine::note_time() {
  const auto now = Traffic::Clock::now();
  traffic_.idle += std::min<std::chrono::nanoseconds>(now - traffic_.now, kLongestStep);
  traffic_.now = now;
}

bool Engine::deliver_finished() {
  const bool any = !finished_.empty();
  while (!finished_.empty()) {
    const auto found = exchanges_.find(finished_.front());
    finished_.pop_front();
    if (found == exchanges_.end()) continue;
    const std::unique_ptr<Exchange> exchange = std::move(found->second);
    exchanges_.erase(found);
    if (exchange->receiver != nullptr)
      exchange->receiver->done(std::move(exchange->response), exchange->thrown);
  }
  return any;
}

void Engine::drop_cancelled() {
  for (const Client::Ticket ticket : std::exchange(cancelled_, {})) {
    const auto found = exchanges_.find(ticket);
    if (found == exchanges_.end()) continue;
    Exchange& exchange = *found->second;
    if (exchange.handle != nullptr)
      detach(exchange);
    else if (exchange.origin != nullptr)
      exchange.origin->forget(exchange);
    exchanges_.erase(found);
  }
}

void Engine::resume_paused() {
  while (!traffic_.paused.empty() && traffic_.limit.free_at() <= Traffic::Clock::now()) {
    Exchange& exchange = *traffic_.paused.front();
    traffic_.paused.pop_front();
    exchange.note_resumed();
    if (const int code = exchange.handle->resume(); code != CURLE_OK) end_hop(exchange, code);
  }
}

bool Engine::dispatch() {
  if (!std::exchange(has_new_, false)) return false;
  bool began = false;
  for (const auto& origin : origins_.all()) {
    began = dispatch(*origin, origin->lane(true)) || began;
    began = dispatch(*origin, origin->shared_lane()) || began;
  }
  return began;
}

bool Engine::dispatch(Origin& origin, Lane& lane) {
  bool began = false;
  while (!lane.queue.empty() && lane.in_flight < origin.limit(lane)) {
    Exchange& exchange = *lane.queue.front();
    lane.queue.pop_front();
    exchange.lane = &lane;
    begin(exchange);
    began = true;
  }
  return began;
}

void Engine::begin(Exchange& exchange) {
  exchange.begin_hop();
  exchange.epoch = exchange.lane->window.epoch();
  Handle& handle = handles_.take(exchange);
  exchange.handle = &handle;
  ++exchange.lane->in_flight;
  ++statistics_.requests;
  reactor_.add(handle.easy(), handle.set());
}

void Engine::enqueue(Exchange& exchange) {
  exchange.origin = &origins_.of(exchange.url);
  exchange.lane = &exchange.origin->lane(exchange.request.own_connection);
  exchange.lane->queue.push_back(&exchange);
  has_new_ = true;
}

bool Engine::collect() {
  void* easy = nullptr;
  int code = 0;
  bool any = false;
  while (reactor_.take_ended(easy, code)) {
    Exchange& exchange = *Handle::of(easy).exchange();
    end_hop(exchange, code);
    any = true;
  }
  return any;
}

// Takes the exchange off the network.
void Engine::detach(Exchange& exchange) {
  Handle& handle = *std::exchange(exchange.handle, nullptr);
  std::erase(traffic_.paused, &exchange);
  statistics_.connections += static_cast<std::uint64_t>(handle.new_connections());
  reactor_.remove(handle.easy(), handle.set());
  handles_.give_back(handle);
  --exchange.lane->in_flight;
  has_new_ = true;
}

void Engine::end_hop(Exchange& exchange, int code) {
  learn(exchange, code);
  judge(exchange, code);
  detach(exchange);
  trace(exchange);
  if (exchange.receiver == nullptr) return;  // drop_cancelled() takes it
  if (exchange.thrown || !exchange.response.failure.empty()) return finish(exchange);
  try {
    if (follow_redirect(exchange)) return;
    exchange.complete();
  } catch (const Error&) {
    exchange.thrown = std::current_exception();
  }
  finish(exchange);
}

void Engine::judge(Exchange& exchange, int code) {
  if (exchange.thrown || code == CURLE_OK || (exchange.is_body_cut() && code == CURLE_WRITE_ERROR)) return;
  Failure failure = failure_of(code, exchange.handle->error(), exchange.handle->verify_result());
  if (exchange.has_too_many_headers()) failure = {"more than 256 KiB of headers"};
  if (failure.passes)
    exchange.response.failure = failure.text;
  else
    exchange.thrown =
        std::make_exception_ptr(Error(ErrorKind::network, shown_url(exchange.url) + ": " + failure.text));
}

// What this hop tells of its server.
void Engine::learn(const Exchange& exchange, int code) {
  const int status = exchange.response.status();
  Lane& lane = *exchange.lane;
  if (lane.shared && status != 0) exchange.origin->saw_version(exchange.spoke_http2());
  if (lane.shared && is_http2_failure(code)) exchange.origin->saw_http2_failure();
  const bool is_torn = code != CURLE_OK && failure_of(code, "", 0).is_torn;
  if (status == 429 || status == 503 || is_torn)
    lane.window.pushed_back(exchange.epoch);
  else if (code == CURLE_OK)
    lane.window.completed(exchange.handle->first_byte());
}

bool Engine::follow_redirect(Exchange& exchange) {
  const Hop& hop = exchange.response.hops.back();
  const auto location = hop.headers.find("location");
  if (!is_redirect(hop.status) || !location) return false;
  if (exchange.response.hops.size() > kMostRedirects)
    throw Error(ErrorKind::network, shown_url(exchange.request.url) + ": more than 10 redirects");
  if (hop.status <= 303 && exchange.method == Method::post) exchange.method = Method::get;
  exchange.url = resolve_url(exchange.url, *location);
  ++statistics_.redirects;
  enqueue(exchange);
  return true;
}

void Engine::finish(Exchange& exchange) { finished_.push_back(exchange.ticket); }

void Engine::fail(Exchange& exchange, const std::string& why) {
  exchange.response.failure = why;
  detach(exchange);
  trace(exchange);
  finish(exchange);
}

void Engine::trace(const Exchange& exchange) const {
  if (!options_.trace) return;
  const Response& response = exchange.response;
  options_.trace(shown_url(exchange.url) + ": " +
                 (response.failure.empty() ? std::to_string(response.status()) : response.failure));
}

void Engine::check_stalls() {
  const auto now = traffic_.now;
  const milliseconds pause = std::min(options_.stall_timeout / 8, kLongestStep);
  if (now - stalls_checked_ < pause) return;
  stalls_checked_ = now;
  for (const auto& origin : origins_.all()) take_back_waiting(origin->shared_lane());
  for (const auto& handle : handles_.all()) {
    Exchange* exchange = handle->exchange();
    if (exchange == nullptr || exchange->receiver == nullptr || is_paused(*exchange)) continue;
    const std::string why = stall_of(*exchange);
    if (why.empty()) continue;
    if (exchange->lane->shared) drop_dead_connection(*exchange);
    fail(*exchange, why);
  }
}

// A server may serve fewer streams than we ask for; libcurl then keeps exchanges waiting, which are not to
// count as stalled: they go back into the queue, and the lane learns how many there can be.
void Engine::take_back_waiting(Lane& lane) {
  std::vector<Exchange*> waiting;
  std::size_t served = 0;
  for (const auto& handle : handles_.all()) {
    Exchange* exchange = handle->exchange();
    if (exchange == nullptr || exchange->lane != &lane) continue;
    if (handle->is_connected())
      ++served;
    else if (exchange->silence() > options_.stall_timeout / 2)
      waiting.push_back(exchange);
  }
  if (served == 0) return;  // they wait for a connection that is being made
  for (Exchange* exchange : waiting) {
    lane.window.cap(served);
    detach(*exchange);
    exchange->response.hops.pop_back();
    lane.queue.push_front(exchange);
  }
}

bool Engine::is_paused(const Exchange& exchange) const {
  const auto& paused = traffic_.paused;
  return std::find(paused.begin(), paused.end(), &exchange) != paused.end();
}

std::string Engine::stall_of(Exchange& exchange) const {
  if (exchange.is_trickle(std::max<std::chrono::seconds>(
          kTrickleTime, std::chrono::duration_cast<std::chrono::seconds>(options_.stall_timeout))))
    return "fewer than 100 bytes a second for a minute";
  if (exchange.silence() <= options_.stall_timeout || exchange.silence() <= patience_with(exchange))
    return "";
  return "no byte for " + std::to_string(options_.stall_timeout.count()) + " ms";
}

milliseconds Engine::patience_with(const Exchange& exchange) const {
  // A connection that is being made has a time of its own, which libcurl keeps.
  if (!exchange.handle->is_connected()) return options_.stall_timeout + options_.connect_timeout;
  // A stream may wait for others that the server serves before it.
  const bool waits = exchange.lane->shared && exchange.response.status() == 0 && is_alive(*exchange.lane);
  return waits ? kPatience * options_.stall_timeout : options_.stall_timeout;
}

bool Engine::is_alive(const Lane& lane) const {
  return std::any_of(handles_.all().begin(), handles_.all().end(), [&](const auto& handle) {
    const Exchange* exchange = handle->exchange();
    return exchange != nullptr && exchange->lane == &lane && exchange->silence() < options_.stall_timeout / 2;
  });
}

// Where several exchanges share a connection, ending one leaves the others, and those to come, on what may
// be a dead line: it is cut for all where none has heard of the server for a while.
void Engine::drop_dead_connection(const Exchange& stalled) {
  const int fd = stalled.handle->socket();
  if (fd < 0) return;
  for (const auto& handle : handles_.all()) {
    const Exchange* other = handle->exchange();
    if (other != nullptr && other->lane->shared && handle->socket() == fd &&
        other->silence() < options_.stall_timeout / 2)
      return;
  }
  shutdown(fd, SHUT_RDWR);
}

}  // namespace hf::cache
