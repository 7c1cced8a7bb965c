// HTTP as the cache needs it, and the only home of libcurl: streamed bodies, redirects walked by hand, stalls
// found.
//
// A token goes to the origin of the request's own URL and nowhere else; redirects are followed 10 times at
// most and never from https to http. Proxies come from http_proxy, https_proxy, all_proxy and no_proxy.
// Bodies are asked for unencoded, since a file's size and hash are those of its plain bytes.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "cache/http/backoff.h"
#include "cache/http/headers.h"

namespace hf::cache {

struct ClientOptions {
  std::string user_agent = "hfcache";
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds stall_timeout{10'000};  // without a byte
  std::string ca_file, ca_folder;                   // empty: the system's own
  RetryPolicy retry;
  std::function<void(std::string_view)> trace;  // told of each exchange, from any thread
};

// Timeouts by HF_HUB_ETAG_TIMEOUT and HF_HUB_DOWNLOAD_TIMEOUT, certificates by REQUESTS_CA_BUNDLE,
// CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR.
ClientOptions client_options(const Environment& environment);

enum class Method { get, head, post };

struct Request {
  std::string url;
  Method method = Method::get;
  std::string bearer = {};                                 // empty: no Authorization
  std::optional<std::uint64_t> first_byte = std::nullopt;  // Range: bytes=N-
  std::string form = {};                                   // a POST's form-encoded body
};

struct Hop {
  std::string url;
  int status = 0;
  Headers headers;
};

struct Response {
  std::vector<Hop> hops;  // redirects, then the one that answered; empty where nothing did
  std::string body;       // of send(), and of answers that are not 2xx (their first 64 KiB)
  std::string failure;    // why the transfer broke off or never began; empty when it is complete

  int status() const { return hops.empty() ? 0 : hops.back().status; }
  bool ok() const { return status() >= 200 && status() < 300; }
  // Worth another attempt: broken transfers, 408, 429 and server errors.
  bool is_passing() const;
  // In the first answer that has it: the Hub puts what it knows of a file on its redirect to the storage.
  std::optional<std::string_view> find(std::string_view header) const;
  std::optional<unsigned> requested_wait() const;
};

// Takes the body of a 2xx answer. What it throws ends the transfer and leaves the call.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void start(const Response& head) = 0;  // once, before the first byte and also before none
  virtual void write(std::span<const std::byte> bytes) = 0;
};

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // One attempt, redirects included. Throws Error{network} for what no repetition can mend (a certificate, a
  // redirect that is refused); a transfer that breaks is a value. May be called from several threads.
  Response exchange(const Request& request, Sink& sink);

  // For answers that fit in memory (64 MiB at most), repeated as the policy says. Throws Error{network} when
  // no complete answer came; a status of any kind is a value.
  Response send(const Request& request);

  const ClientOptions& options() const { return options_; }

 private:
  struct Pool;

  ClientOptions options_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace hf::cache
