// A libcurl handle that is set up once and carries one exchange after another.
#pragma once
#include <curl/curl.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/http/exchange.h"
#include "cache/http/reactor.h"

namespace hf::cache {

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

class Handle {
 public:
  enum class Kind { shared, small, large };  // one of several on a connection; alone on it; with long bodies

  Handle(Kind kind, const ClientOptions& options, const Traffic& traffic, Reactor& reactor);
  ~Handle() { curl_easy_cleanup(easy_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  static Handle& of(void* easy);

  // Readies it for the exchange's hop. `headers` must live as long as it does not change.
  void prepare(Exchange& exchange, curl_slist* headers);
  void release();
  int resume();  // after a pause; a CURLcode, where not CURLE_OK the transfer is over

  Kind kind() const { return kind_; }
  Reactor::Set set() const { return kind_ == Kind::shared ? Reactor::shared : Reactor::single; }
  void* easy() const { return easy_; }
  Exchange* exchange() const { return exchange_; }

  const char* error() const { return error_; }
  long verify_result() const;
  long new_connections() const;
  bool is_connected() const;
  std::chrono::microseconds first_byte() const;  // after it was asked for
  int socket() const;                            // -1: none

 private:
  struct Callbacks;
  void set_constants(const ClientOptions& options, const Traffic& traffic);
  void set_method(const Exchange& exchange);

  Kind kind_;
  CURL* easy_;
  Exchange* exchange_ = nullptr;
  Method method_ = Method::get;
  std::string range_;
  curl_slist* headers_ = nullptr;
  HeaderList own_headers_{nullptr, &curl_slist_free_all};
  char error_[CURL_ERROR_SIZE] = {};
};

// Handles that are not in use, and the header lists that all share.
class HandlePool {
 public:
  HandlePool(const ClientOptions& options, const Traffic& traffic, Reactor& reactor)
      : options_(options), traffic_(traffic), reactor_(reactor) {}

  Handle& take(Exchange& exchange);
  void give_back(Handle& handle);
  const std::vector<std::unique_ptr<Handle>>& all() const { return all_; }

 private:
  const ClientOptions& options_;
  const Traffic& traffic_;
  Reactor& reactor_;
  std::map<std::string, HeaderList> lists_;  // by token
  std::vector<std::unique_ptr<Handle>> all_;
  std::map<Handle::Kind, std::vector<Handle*>> free_;
};

}  // namespace hf::cache
