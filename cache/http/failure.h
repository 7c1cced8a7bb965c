// What libcurl's verdicts on a transfer mean for who wants to try again.
#pragma once
#include <string>
#include <string_view>

namespace hf::cache {

struct Failure {
  std::string text;      // escaped, without secrets
  bool passes = false;   // another attempt may go better
  bool is_torn = false;  // refused or reset: the server has too many of us
};

// `code`: a CURLcode other than CURLE_OK; `text`: libcurl's own words, if any; `verify_result`: OpenSSL's
// word on the certificate.
Failure failure_of(int code, std::string_view text, long verify_result);
bool is_http2_failure(int code);

}  // namespace hf::cache
