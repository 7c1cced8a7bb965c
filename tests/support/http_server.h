// A small HTTP/1.1 server on 127.0.0.1 for tests: a thread a connection, a bounded number of them, all ended
// when it is destroyed.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hf::test {

struct HttpRequest {
  std::string method, target;                  // as sent
  std::string path;                            // the target up to "?", still percent-encoded
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const;  // empty where there is none
};

std::string percent_decoded(std::string_view text, bool plus_is_space = false);
std::vector<std::pair<std::string, std::string>> parse_form(std::string_view text);  // "a=b&c=d"

// The answer to one request. Nothing is sent to a client that has gone; writing then returns false.
class HttpReply {
 public:
  HttpReply(int connection, int stop, std::uint64_t bytes_per_second = 0)
      : connection_(connection), stop_(stop), bytes_per_second_(bytes_per_second) {}

  using Fields = std::vector<std::pair<std::string, std::string>>;
  bool head(int status, const Fields& fields, std::uint64_t content_length);
  bool write(std::string_view bytes);
  bool wait_until_gone();           // for the client to hang up, or the server to end
  bool pause(unsigned ms) const;    // false when the server ends
  void reset();                     // the connection breaks, as if a cable was pulled, once all has arrived
  void close() { broken_ = true; }  // the connection ends in good order
  void refuse_for(unsigned ms);     // the same, and for a while nobody listens
  unsigned refuses() const { return refuses_; }
  bool is_broken() const { return broken_; }

 private:
  bool send_now(std::string_view bytes);

  int connection_, stop_;
  std::uint64_t bytes_per_second_;
  unsigned refuses_ = 0;  // ms
  bool broken_ = false;
};

std::string head_text(std::string_view version, int status, const HttpReply::Fields& fields);

struct HttpServerOptions {
  unsigned short port = 0;             // 0: a free one
  std::uint64_t bytes_per_second = 0;  // of each connection; 0: no limit
  std::string address = "127.0.0.1";   // or "::1", or another of 127.0.0.0/8
};

class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpReply&)>;

  explicit HttpServer(Handler handler, HttpServerOptions options = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url() const { return "http://" + host(); }
  std::string host() const;  // "127.0.0.1:1234"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hf::test
