#include "cache/http/failure.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>

#include "base/escape.h"

namespace hf::cache {
namespace {

// What passes by itself: the network between here and there. The rest (certificates, protocols, memory) does
// not.
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
    CURLE_PROXY,
    CURLE_UNSUPPORTED_PROTOCOL,  // what answers is not HTTP, or the rest of an answer before; URLs are
                                 // checked
};
constexpr std::array kTorn = {CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR};

template <class Codes>
bool is_one_of(const Codes& codes, int code) {
  return std::any_of(codes.begin(), codes.end(),
                     [&](CURLcode each) { return static_cast<int>(each) == code; });
}

// OpenSSL's X509_V_ERR_… of a certificate whose issuer is not among those trusted.
bool is_unknown_issuer(long verify_result) {
  constexpr std::array<long, 5> kUnknown = {2, 18, 19, 20, 21};
  return std::find(kUnknown.begin(), kUnknown.end(), verify_result) != kUnknown.end();
}

}  // namespace

Failure failure_of(int code, std::string_view text, long verify_result) {
  Failure failure;
  failure.passes = is_one_of(kPassing, code);
  failure.is_torn = is_one_of(kTorn, code);
  failure.text = escaped(text.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : text, 500);
  // libcurl quotes the proxy's address there, which may hold a password.
  if (text.starts_with("Unsupported proxy")) {
    failure.text =
        "the proxy that http_proxy, https_proxy or all_proxy names is malformed or of an unknown kind";
    failure.passes = false;
  }
  if (code == CURLE_PEER_FAILED_VERIFICATION && is_unknown_issuer(verify_result))
    failure.text +=
        "; if the server is to be trusted, name the file with its authority's certificate in "
        "SSL_CERT_FILE";
  if (code == CURLE_SSL_CACERT_BADFILE)
    failure.text += "; the file is the one that REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE names";
  return failure;
}

bool is_http2_failure(int code) { return code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM; }

}  // namespace hf::cache
