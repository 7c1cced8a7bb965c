// What is asked of a server, and what comes back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/http/headers.h"

namespace hf::cache {

enum class Method { get, head, post };

struct ByteRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last = std::nullopt;  // inclusive; none: to the end
};

struct Request {
  std::string url;
  Method method = Method::get;
  std::string bearer = {};  // empty: no Authorization; sent to the origin of `url` only
  std::optional<ByteRange> range = std::nullopt;
  std::string if_range = {};    // a strong ETag of that very URL, sent with `range`
  std::string form = {};        // a POST's form-encoded body
  bool own_connection = false;  // HTTP/1.1 and never multiplexed: for parts of a large file
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
  std::optional<unsigned> requested_wait() const;  // seconds
  const std::string& last_url() const;             // of the hop that answered; empty where nothing did
};

// What takes an exchange. All calls come on the thread that runs the client.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // The head of a 2xx answer: once, before the first byte and also before none.
  virtual void start(const Response& head) = 0;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Once, and the last call. `thrown`: what start() or write() threw, which ends an exchange, or an
  // Error{network} for what no repetition can mend (a certificate, a redirect that is refused); else null.
  virtual void done(Response response, std::exception_ptr thrown) = 0;
};

}  // namespace hf::cache
