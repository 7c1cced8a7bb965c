#include "cache/http/options.h"

#include <filesystem>
#include <system_error>

namespace hf::cache {

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

}  // namespace hf::cache
