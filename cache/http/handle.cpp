#include "cache/http/handle.h"

#include <algorithm>
#include <new>
#include <span>

namespace hf::cache {
namespace {

// Small answers fit into one of them with their head; large bodies are read in pieces that a core's own cache
// holds while they are hashed.
constexpr std::size_t kSmallBuffer = 64 << 10;
constexpr std::size_t kLargeBuffer = 256 << 10;

HeaderList header_list(const std::vector<std::string>& lines) {
  HeaderList list(nullptr, &curl_slist_free_all);
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    if (list == nullptr) list.reset(longer);  // else it is still the front
  }
  return list;
}

std::vector<std::string> header_lines(const std::string& bearer) {
  std::vector<std::string> lines = {"Accept-Encoding: identity", "Expect:"};
  if (!bearer.empty()) lines.push_back("Authorization: Bearer " + bearer);
  return lines;
}

std::string range_text(const std::optional<ByteRange>& range) {
  if (!range) return "";
  return std::to_string(range->first) + "-" + (range->last ? std::to_string(*range->last) : "");
}

}  // namespace

struct Handle::Callbacks {
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    Exchange* exchange = static_cast<Handle*>(self)->exchange_;
    return exchange->take_header({data, size * count}) == Exchange::Verdict::go_on ? size * count : 0;
  }
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
    Exchange* exchange = static_cast<Handle*>(self)->exchange_;
    switch (exchange->take_body(std::as_bytes(std::span(data, size * count)))) {
      case Exchange::Verdict::go_on:
        return size * count;
      case Exchange::Verdict::pause:
        return CURL_WRITEFUNC_PAUSE;
      case Exchange::Verdict::end:
        return 0;
    }
    return 0;
  }
};

Handle::Handle(Kind kind, const ClientOptions& options, const Traffic& traffic, Reactor& reactor)
    : kind_(kind), easy_(curl_easy_init()) {
  if (easy_ == nullptr) throw std::bad_alloc();
  set_constants(options, traffic);
  reactor.watch(easy_);
}

Handle& Handle::of(void* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return *reinterpret_cast<Handle*>(self);
}

void Handle::set_constants(const ClientOptions& options, const Traffic& traffic) {
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(easy_, option, value); };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  for (const CURLoption option : {CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO})
    if (!options.ca_file.empty()) set(option, options.ca_file.c_str());
  for (const CURLoption option : {CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH})
    if (!options.ca_folder.empty()) set(option, options.ca_folder.c_str());
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(kind_ == Kind::shared ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PIPEWAIT, kind_ == Kind::shared ? 1L : 0L);
  const std::size_t buffer = traffic.limit.most_at_once(kind_ == Kind::large ? kLargeBuffer : kSmallBuffer);
  set(CURLOPT_BUFFERSIZE, static_cast<long>(buffer));
  set(CURLOPT_HEADERFUNCTION, &Callbacks::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Callbacks::on_body);
  set(CURLOPT_WRITEDATA, this);
}

void Handle::prepare(Exchange& exchange, curl_slist* headers) {
  exchange_ = &exchange;
  error_[0] = '\0';
  curl_easy_setopt(easy_, CURLOPT_URL, exchange.url.c_str());
  if (!exchange.request.if_range.empty() && exchange.request.range) {
    std::vector<std::string> lines = header_lines(exchange.with_bearer() ? exchange.request.bearer : "");
    lines.push_back("If-Range: " + exchange.request.if_range);
    own_headers_ = header_list(lines);
    headers = own_headers_.get();
  }
  if (headers != headers_) curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
  headers_ = headers;
  if (std::string range = range_text(exchange.request.range); range != range_) {
    curl_easy_setopt(easy_, CURLOPT_RANGE, range.empty() ? nullptr : range.c_str());
    range_ = std::move(range);
  }
  set_method(exchange);
}

void Handle::set_method(const Exchange& exchange) {
  if (exchange.method == Method::post) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(exchange.request.form.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, exchange.request.form.c_str());
  }
  if (exchange.method == method_) return;
  if (exchange.method == Method::get) curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
  if (exchange.method == Method::head) curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  method_ = exchange.method;
}

void Handle::release() { exchange_ = nullptr; }

int Handle::resume() { return curl_easy_pause(easy_, CURLPAUSE_CONT); }

long Handle::verify_result() const {
  long result = 0;
  curl_easy_getinfo(easy_, CURLINFO_SSL_VERIFYRESULT, &result);
  return result;
}

long Handle::new_connections() const {
  long count = 0;
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &count);
  return count;
}

bool Handle::is_connected() const {
  curl_off_t connected = 0;
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &connected);
  return connected > 0;
}

std::chrono::microseconds Handle::first_byte() const {
  curl_off_t asked = 0, answered = 0;
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &asked);
  curl_easy_getinfo(easy_, CURLINFO_STARTTRANSFER_TIME_T, &answered);
  return std::chrono::microseconds(std::max<curl_off_t>(answered - asked, 0));
}

int Handle::socket() const {
  curl_socket_t fd = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &fd);
  return fd;
}

Handle& HandlePool::take(Exchange& exchange) {
  const Handle::Kind kind = exchange.lane->shared             ? Handle::Kind::shared
                            : exchange.request.own_connection ? Handle::Kind::large
                                                              : Handle::Kind::small;
  auto& free = free_[kind];
  if (free.empty()) {
    all_.push_back(std::make_unique<Handle>(kind, options_, traffic_, reactor_));
    free.push_back(all_.back().get());
  }
  Handle& handle = *free.back();
  const std::string& token = exchange.with_bearer() ? exchange.request.bearer : std::string();
  auto list = lists_.find(token);
  if (list == lists_.end()) list = lists_.emplace(token, header_list(header_lines(token))).first;
  handle.prepare(exchange, list->second.get());
  free.pop_back();
  return handle;
}

void HandlePool::give_back(Handle& handle) {
  handle.release();
  free_[handle.kind()].push_back(&handle);
}

}  // namespace hf::cache
