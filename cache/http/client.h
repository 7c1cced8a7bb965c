// HTTP as the cache needs it, and the only home of libcurl: many exchanges at a time on one thread, streamed
// bodies, redirects walked by hand, stalls found.
//
// A token goes to the origin of the request's own URL and nowhere else; redirects are followed 10 times at
// most and never from https to http. Proxies come from http_proxy (lower case only), HTTPS_PROXY, ALL_PROXY
// and NO_PROXY. Bodies are asked for unencoded, since a file's size and hash are those of its plain bytes.
// Certificates are always verified, by TLS 1.2 or newer.
//
// Exchanges with one origin share few connections where it speaks HTTP/2 over TLS: 4 at most, 25 on each.
// Elsewhere each has one of its own, kept open for the next, and their number follows what the server takes.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "cache/http/message.h"
#include "cache/http/options.h"

namespace hf::cache {

class Engine;

// All calls come from one thread, but for those that say otherwise.
class Client {
 public:
  using Ticket = std::uint64_t;  // never 0

  struct Statistics {
    std::uint64_t requests = 0;     // redirects included
    std::uint64_t redirects = 0;    // that were followed
    std::uint64_t connections = 0;  // that were opened
    std::uint64_t bytes = 0;        // of bodies
  };

  explicit Client(ClientOptions options);
  ~Client();  // exchanges that are not done end without a word to their receivers
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Begins when the loop runs and the origin has room; one attempt, redirects walked. `receiver` must live
  // until done() or cancel(). May be called from a receiver.
  Ticket start(Request request, Receiver& receiver);
  // No further call to the receiver; the connection is dropped. May be called from a receiver, and of an
  // exchange that is done.
  void cancel(Ticket ticket);

  // Work for the loop, from any thread.
  void after(std::chrono::milliseconds wait, std::function<void()> work);
  void post(std::function<void()> work);

  // Runs exchanges, timers and posted work until `done()`, which is asked after each step. What done(), work
  // and a receiver's done() throw leaves this call. Error{interrupted} when the user stops the program. Not
  // from a receiver's start() or write().
  void run_until(const std::function<bool()>& done);

  // How many exchanges the origin of `url` takes at present, by what was seen of it; more of them wait for
  // their turn. Error{network} for what is no URL.
  std::size_t window(std::string_view url) const;

  // For answers that fit in memory (64 MiB at most), repeated as the policy says; runs the loop meanwhile.
  // Throws Error{network} when no complete answer came; a status of any kind is a value.
  Response send(const Request& request);

  const Statistics& statistics() const;
  const ClientOptions& options() const { return options_; }

 private:
  const ClientOptions options_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace hf::cache
