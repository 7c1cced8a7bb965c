// The loop behind a Client: which exchanges are under way, what becomes of a hop that ended.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cache/http/client.h"
#include "cache/http/exchange.h"
#include "cache/http/handle.h"
#include "cache/http/lanes.h"
#include "cache/http/reactor.h"

namespace hf::cache {

class Engine {
 public:
  explicit Engine(const ClientOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Client::Ticket start(Request request, Receiver& receiver);
  void cancel(Client::Ticket ticket);
  void run_until(const std::function<bool()>& done);
  std::size_t window(std::string_view url);

  Reactor& reactor() { return reactor_; }
  const Client::Statistics& statistics();

 private:
  void step();
  void note_time();
  bool deliver_finished();  // whether there were any
  void drop_cancelled();
  void resume_paused();
  bool dispatch();
  bool dispatch(Origin& origin, Lane& lane);
  void begin(Exchange& exchange);
  bool collect();
  void end_hop(Exchange& exchange, int code);
  void judge(Exchange& exchange, int code);
  void learn(const Exchange& exchange, int code);
  bool follow_redirect(Exchange& exchange);
  void enqueue(Exchange& exchange);
  void detach(Exchange& exchange);
  void finish(Exchange& exchange);
  void fail(Exchange& exchange, const std::string& why);
  void trace(const Exchange& exchange) const;
  void check_stalls();
  void take_back_waiting(Lane& lane);
  bool is_paused(const Exchange& exchange) const;
  std::string stall_of(Exchange& exchange) const;
  std::chrono::milliseconds patience_with(const Exchange& exchange) const;
  bool is_alive(const Lane& lane) const;
  void drop_dead_connection(const Exchange& stalled);

  const ClientOptions& options_;
  Traffic traffic_;
  Reactor reactor_;
  Origins origins_;
  HandlePool handles_;
  std::unordered_map<Client::Ticket, std::unique_ptr<Exchange>> exchanges_;
  std::deque<Client::Ticket> finished_;
  std::vector<Client::Ticket> cancelled_;
  Client::Ticket last_ticket_ = 0;
  Client::Statistics statistics_;
  Traffic::Clock::time_point stalls_checked_{};
  bool has_new_ = false;  // something may be dispatched
};

}  // namespace hf::cache
