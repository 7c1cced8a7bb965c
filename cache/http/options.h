// How a Client behaves: times, limits, certificates.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "cache/http/backoff.h"

namespace hf::cache {

struct ClientOptions {
  std::string user_agent = "hfcache";
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds stall_timeout{10'000};  // without a byte
  std::string ca_file, ca_folder;                   // empty: the system's own
  RetryPolicy retry;
  std::uint64_t bytes_per_second = 0;  // of all bodies together; 0: as fast as they come
  std::size_t most_connections = 64;   // to one origin, over HTTP/1.1
  std::size_t most_streams = 100;      // at one origin, over HTTP/2
  // Told of each request, on the thread that runs the client.
  std::function<void(std::string_view)> trace = {};
  // Told when send() is going to wait before it asks again.
  std::function<void(std::string_view subject, std::chrono::milliseconds wait, std::string_view why)>
      on_wait = {};
};

// Timeouts by HF_HUB_ETAG_TIMEOUT and HF_HUB_DOWNLOAD_TIMEOUT, certificates by REQUESTS_CA_BUNDLE,
// CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR.
ClientOptions client_options(const Environment& environment);

}  // namespace hf::cache
