// Waits for sockets, timers and other threads, and drives libcurl's transfers meanwhile.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace hf::cache {

class Reactor {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<void()>;
  // Two sets of connections: those that carry several transfers at a time and those that carry one.
  enum Set : unsigned { shared, single };

  // `streams`: at most on one shared connection; `shared_connections`: at most to one host.
  Reactor(std::size_t streams, std::size_t shared_connections, std::size_t idle_connections);
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // `easy` is a CURL*. Not from within libcurl's callbacks. watch() must have been called on it once.
  void add(void* easy, Set set);
  void remove(void* easy, Set set);
  // The reactor opens and closes the sockets of this handle, since it must know when a number is used anew.
  void watch(void* easy);
  // Takes an ended transfer, if there is one: the handle, and how it ended (a CURLcode).
  bool take_ended(void*& easy, int& code);

  void after(std::chrono::milliseconds wait, Work work);  // from any thread
  void post(Work work);                                   // from any thread
  bool run_due();  // posted work and timers whose time has come; whether there were any

  // Drives transfers that need no socket: new ones, those whose timeout is over.
  void kick();
  // Waits for something to do, no longer than until then, and drives the transfers that it is for.
  void wait(Clock::time_point until);

 private:
  struct Group {
    Reactor* reactor = nullptr;
    void* multi = nullptr;                      // a CURLM*
    std::optional<Clock::time_point> deadline;  // when it wants to be driven though no socket is ready
  };
  struct Socket {
    void* multi = nullptr;
    std::uint32_t wanted = 0, registered = 0;  // epoll's events: what libcurl wants, what the kernel knows
    bool ours = false, changed = false;
  };
  struct Callbacks;

  Socket& socket_of(int fd);
  void apply(int fd);
  void apply_changes();
  void handle_events(int timeout_ms);
  void drain_wake();
  void wake();

  int epoll_ = -1, wake_ = -1;
  std::array<Group, 2> groups_;
  std::vector<Socket> sockets_;  // by descriptor
  std::vector<int> changed_;
  mutable std::mutex mutex_;  // of what follows
  std::deque<Work> posted_;
  std::multimap<Clock::time_point, Work> timers_;
};

}  // namespace hf::cache
