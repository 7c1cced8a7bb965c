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
  explicit HttpReply(int connection, int stop) : connection_(connection), stop_(stop) {}

  using Fields = std::vector<std::pair<std::string, std::string>>;
  bool head(int status, const Fields& fields, std::uint64_t content_length);
  bool write(std::string_view bytes);
  bool wait_until_gone();         // for the client to hang up, or the server to end
  bool pause(unsigned ms) const;  // false when the server ends
  void reset();                   // the connection breaks, as if a cable was pulled
  bool is_broken() const { return broken_; }

 private:
  int connection_, stop_;
  bool broken_ = false;
};

class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpReply&)>;

  explicit HttpServer(Handler handler, unsigned short port = 0);  // 0: a free one
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url() const;  // "http://127.0.0.1:1234"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hf::test
