#include "cache/http/client.h"

#include <curl/curl.h>

#include <ctime>
#include <filesystem>
#include <mutex>
#include <new>

#include "base/error.h"
#include "cache/http/transfer.h"
#include "cache/http/url.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostRedirects = 10;
constexpr std::size_t kMostText = 64 << 20;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

class TextSink : public Sink {
 public:
  explicit TextSink(std::string_view url) : url_(url) {}
  void start(const Response&) override { text.clear(); }
  void write(std::span<const std::byte> bytes) override {
    if (text.size() + bytes.size() > kMostText)
      throw Error(ErrorKind::integrity, shown_url(url_) + ": answer is longer than 64 MiB");
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text;

 private:
  std::string_view url_;
};

}  // namespace

ClientOptions client_options(const Environment& environment) {
  ClientOptions options;
  options.connect_timeout = std::chrono::seconds(environment.seconds("HF_HUB_ETAG_TIMEOUT", 10));
  options.stall_timeout = std::chrono::seconds(environment.seconds("HF_HUB_DOWNLOAD_TIMEOUT", 10));
  const auto bundle = environment.first_of({"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  std::error_code ignored;
  if (bundle)
    (std::filesystem::is_directory(*bundle, ignored) ? options.ca_folder : options.ca_file) = *bundle;
  if (const auto folder = environment.get("SSL_CERT_DIR")) options.ca_folder = *folder;
  return options;
}

bool Response::is_passing() const {
  if (!failure.empty()) return true;
  return status() == 408 || status() == 429 || (status() >= 500 && status() != 501 && status() != 505);
}

std::optional<std::string_view> Response::find(std::string_view header) const {
  for (const Hop& hop : hops)
    if (const auto value = hop.headers.find(header)) return value;
  return std::nullopt;
}

std::optional<unsigned> Response::requested_wait() const {
  if (hops.empty()) return std::nullopt;
  return cache::requested_wait(hops.back().headers, std::time(nullptr));
}

// Handles that are not in use, each with its open connections.
struct Client::Pool {
  std::mutex mutex;
  std::vector<CURL*> free;

  ~Pool() {
    for (CURL* handle : free) curl_easy_cleanup(handle);
  }
  CURL* take() {
    const std::lock_guard lock(mutex);
    CURL* handle = nullptr;
    if (free.empty()) {
      handle = curl_easy_init();
      if (handle == nullptr) throw std::bad_alloc();
    } else {
      handle = free.back();
      free.pop_back();
    }
    return handle;
  }
  void give_back(CURL* handle) {
    const std::lock_guard lock(mutex);
    free.push_back(handle);
  }
};

Client::Client(ClientOptions options) : options_(std::move(options)), pool_(std::make_unique<Pool>()) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw Error(ErrorKind::internal, "libcurl: cannot be initialised");
}

Client::~Client() = default;

Response Client::exchange(const Request& request, Sink& sink) {
  struct Lease {
    Pool& pool;
    CURL* handle = pool.take();
    ~Lease() { pool.give_back(handle); }
  } const lease{*pool_};

  const std::string home = origin_of(request.url);
  Request step = request;
  Response response;
  while (true) {
    const bool with_bearer = !request.bearer.empty() && origin_of(step.url) == home;
    run_transfer(lease.handle, options_, step, with_bearer, response, sink);
    const Hop& hop = response.hops.back();
    if (options_.trace)
      options_.trace(shown_url(step.url) + ": " +
                     (response.failure.empty() ? std::to_string(hop.status) : response.failure));
    const auto location = hop.headers.find("location");
    if (!response.failure.empty() || !is_redirect(hop.status) || !location) return response;
    if (response.hops.size() > kMostRedirects)
      throw Error(ErrorKind::network, shown_url(request.url) + ": more than 10 redirects");
    if (hop.status <= 303 && step.method == Method::post) step.method = Method::get;
    step.url = resolve_url(step.url, *location);
  }
}

Response Client::send(const Request& request) {
  Backoff backoff(options_.retry);
  while (true) {
    TextSink sink(request.url);
    Response response = exchange(request, sink);
    if (response.ok()) response.body = std::move(sink.text);
    if (!response.is_passing()) return response;
    const auto wait = backoff.next(response.requested_wait());
    if (wait) {
      wait_for(*wait);
      continue;
    }
    if (!response.failure.empty())
      throw Error(ErrorKind::network, shown_url(request.url) + ": " + response.failure);
    return response;
  }
}

}  // namespace hf::cache
