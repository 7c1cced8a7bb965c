#include "cache/http/transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <exception>

#include "base/error.h"
#include "base/escape.h"
#include "base/progress.h"
#include "cache/http/url.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostHeaderBytes = 256 << 10;
constexpr std::size_t kMostErrorBody = 64 << 10;

// What passes by itself: the network between here and there. The rest (certificates, protocols, memory) does
// not.
bool is_passing(CURLcode code) {
  constexpr std::array kPassing = {
      CURLE_COULDNT_RESOLVE_PROXY,
      CURLE_COULDNT_RESOLVE_HOST,
      CURLE_COULDNT_CONNECT,
      CURLE_WEIRD_SERVER_REPLY,
      CURLE_HTTP2,
      CURLE_PARTIAL_FILE,
      CURLE_OPERATION_TIMEDOUT,
      CURLE_SSL_CONNECT_ERROR,
      CURLE_GOT_NOTHING,
      CURLE_SEND_ERROR,
      CURLE_RECV_ERROR,
      CURLE_HTTP2_STREAM,
  };
  return std::find(kPassing.begin(), kPassing.end(), code) != kPassing.end();
}

class Transfer {
 public:
  Transfer(CURL* handle, const ClientOptions& options, Response& response, Sink& sink);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void run(const Request& request, bool with_bearer);

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent);
  void set_options(const Request& request, bool with_bearer);
  void take_header(std::string_view line);
  bool take_body(std::span<const std::byte> bytes);
  void start_once();
  void judge(CURLcode code, const Request& request);

  CURL* handle_;
  const ClientOptions& options_;
  Response& response_;
  Sink& sink_;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
  std::size_t header_bytes_ = 0;
  bool started_ = false, body_cut_ = false, stalled_ = false;
  curl_off_t moved_ = -1;
  std::chrono::steady_clock::time_point moved_at_;
  std::exception_ptr thrown_;
};

Transfer::Transfer(CURL* handle, const ClientOptions& options, Response& response, Sink& sink)
    : handle_(handle), options_(options), response_(response), sink_(sink) {
  curl_easy_reset(handle_);  // keeps the open connections
}

Transfer::~Transfer() { curl_slist_free_all(headers_); }

void Transfer::run(const Request& request, bool with_bearer) {
  response_.hops.push_back({request.url, 0, {}});
  response_.body.clear();
  set_options(request, with_bearer);
  moved_at_ = std::chrono::steady_clock::now();
  const CURLcode code = curl_easy_perform(handle_);
  if (thrown_) std::rethrow_exception(thrown_);
  judge(code, request);
  if (response_.failure.empty() && response_.ok()) start_once();
}

void Transfer::set_options(const Request& request, bool with_bearer) {
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(handle_, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_USERAGENT, options_.user_agent.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  // A stall is no byte at all for a while; a trickle that never ends is this.
  set(CURLOPT_LOW_SPEED_LIMIT, 100L);
  set(CURLOPT_LOW_SPEED_TIME, std::max(60L, static_cast<long>(options_.stall_timeout.count() / 1000)));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_BUFFERSIZE, 256L << 10);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
  if (!options_.ca_folder.empty()) set(CURLOPT_CAPATH, options_.ca_folder.c_str());

  const auto add_header = [&](const std::string& line) {
    headers_ = curl_slist_append(headers_, line.c_str());
  };
  add_header("Accept-Encoding: identity");
  if (with_bearer) add_header("Authorization: Bearer " + request.bearer);
  if (request.first_byte) add_header("Range: bytes=" + std::to_string(*request.first_byte) + "-");
  if (request.method == Method::post) {
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request.form.size()));
    set(CURLOPT_POSTFIELDS, request.form.c_str());
  }
  if (request.method == Method::head) set(CURLOPT_NOBODY, 1L);
  set(CURLOPT_HTTPHEADER, headers_);

  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_NOPROGRESS, 0L);
}

// Exceptions must not pass through C: they are kept and thrown again when libcurl has returned.
std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.header_bytes_ += size * count;
  if (transfer.header_bytes_ > kMostHeaderBytes) return 0;
  try {
    transfer.take_header({data, size * count});
  } catch (...) {
    transfer.thrown_ = std::current_exception();
    return 0;
  }
  return size * count;
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    return transfer.take_body(std::as_bytes(std::span(data, size * count))) ? size * count : 0;
  } catch (...) {
    transfer.thrown_ = std::current_exception();
    return 0;
  }
}

int Transfer::on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    check_interrupted();
  } catch (...) {
    transfer.thrown_ = std::current_exception();
    return 1;
  }
  const auto now = std::chrono::steady_clock::now();
  if (received + sent != transfer.moved_) {
    transfer.moved_ = received + sent;
    transfer.moved_at_ = now;
  }
  transfer.stalled_ = now - transfer.moved_at_ > transfer.options_.stall_timeout;
  return transfer.stalled_ ? 1 : 0;
}

void Transfer::take_header(std::string_view line) {
  Hop& hop = response_.hops.back();
  if (line.starts_with("HTTP/")) {  // also after "100 Continue"
    hop.headers.clear();
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    hop.status = static_cast<int>(status);
  } else {
    hop.headers.add_line(line);
  }
}

bool Transfer::take_body(std::span<const std::byte> bytes) {
  if (response_.ok()) {
    start_once();
    sink_.write(bytes);
    moved_at_ = std::chrono::steady_clock::now();  // a slow disk is not a stalled server
    return true;
  }
  const std::size_t room = kMostErrorBody - response_.body.size();
  body_cut_ = bytes.size() > room;
  response_.body.append(reinterpret_cast<const char*>(bytes.data()), std::min(room, bytes.size()));
  return !body_cut_;
}

void Transfer::start_once() {
  if (!started_) sink_.start(response_);
  started_ = true;
}

void Transfer::judge(CURLcode code, const Request& request) {
  if (code == CURLE_OK || (body_cut_ && code == CURLE_WRITE_ERROR)) return;
  std::string why = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
  if (stalled_) why = "no byte for " + std::to_string(options_.stall_timeout.count()) + " ms";
  if (header_bytes_ > kMostHeaderBytes) why = "more than 256 KiB of headers";
  if (!stalled_ && !is_passing(code))
    throw Error(ErrorKind::network, shown_url(request.url) + ": " + escaped(why));
  response_.failure = escaped(why);
}

}  // namespace

void run_transfer(void* handle, const ClientOptions& options, const Request& request, bool with_bearer,
                  Response& response, Sink& sink) {
  Transfer(handle, options, response, sink).run(request, with_bearer);
}

}  // namespace hf::cache
