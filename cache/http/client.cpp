#include "cache/http/client.h"

#include <curl/curl.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "cache/http/engine.h"
#include "cache/http/url.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostText = 64 << 20;

// Keeps a whole answer.
class TextReceiver : public Receiver {
 public:
  explicit TextReceiver(std::string_view url) : url_(url) {}

  void start(const Response&) override {}
  void write(std::span<const std::byte> bytes) override {
    if (text_.size() + bytes.size() > kMostText)
      throw Error(ErrorKind::integrity, shown_url(url_) + ": answer is longer than 64 MiB");
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void done(Response response, std::exception_ptr thrown) override {
    response_ = std::move(response);
    if (response_->ok()) response_->body = std::move(text_);
    thrown_ = std::move(thrown);
  }

  bool is_done() const { return response_.has_value(); }
  Response take() {
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(*response_);
  }

 private:
  std::string_view url_;
  std::string text_;
  std::optional<Response> response_;
  std::exception_ptr thrown_;
};

void prepare_libcurl() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw Error(ErrorKind::internal, "libcurl: cannot be initialised");
}

}  // namespace

Client::Client(ClientOptions options) : options_(std::move(options)) {
  prepare_libcurl();
  engine_ = std::make_unique<Engine>(options_);
}

Client::~Client() = default;

Client::Ticket Client::start(Request request, Receiver& receiver) {
  return engine_->start(std::move(request), receiver);
}

void Client::cancel(Ticket ticket) { engine_->cancel(ticket); }

void Client::after(std::chrono::milliseconds wait, std::function<void()> work) {
  engine_->reactor().after(wait, std::move(work));
}

void Client::post(std::function<void()> work) { engine_->reactor().post(std::move(work)); }

void Client::run_until(const std::function<bool()>& done) { engine_->run_until(done); }

std::size_t Client::window(std::string_view url) const { return engine_->window(url); }

const Client::Statistics& Client::statistics() const { return engine_->statistics(); }

Response Client::send(const Request& request) {
  Backoff backoff(options_.retry);
  while (true) {
    TextReceiver receiver(request.url);
    const Ticket ticket = start(request, receiver);
    try {
      run_until([&] { return receiver.is_done(); });
    } catch (...) {
      cancel(ticket);
      throw;
    }
    Response response = receiver.take();
    if (!response.is_passing()) return response;
    const auto wait = backoff.next(response);
    if (!wait && response.failure.empty()) return response;
    const std::string why =
        response.failure.empty() ? "HTTP " + std::to_string(response.status()) : response.failure;
    if (!wait) throw Error(ErrorKind::network, shown_url(request.url) + ": " + why);
    if (options_.on_wait) options_.on_wait(shown_url(request.url), *wait, why);
    const auto until = std::chrono::steady_clock::now() + *wait;
    after(*wait, [] {});
    run_until([&] { return std::chrono::steady_clock::now() >= until; });
  }
}

}  // namespace hf::cache
