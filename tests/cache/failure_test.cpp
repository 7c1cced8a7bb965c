#include "cache/http/failure.h"

#include <curl/curl.h>
#include <doctest/doctest.h>

using namespace hf::cache;

namespace {

bool passes(int code) { return failure_of(code, "", 0).passes; }

}  // namespace

TEST_CASE("What the network between here and there does passes") {
  for (const int code : {CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
                         CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE,
                         CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SSL_CONNECT_ERROR})
    CHECK(passes(code));
}

TEST_CASE("Certificates, malformed URLs and files that are not there do not") {
  for (const int code : {CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT,
                         CURLE_LOGIN_DENIED, CURLE_TOO_MANY_REDIRECTS})
    CHECK_FALSE(passes(code));
}

TEST_CASE("Only refused and torn connections say that we are too many") {
  CHECK(failure_of(CURLE_COULDNT_CONNECT, "", 0).is_torn);
  CHECK(failure_of(CURLE_RECV_ERROR, "", 0).is_torn);
  CHECK_FALSE(failure_of(CURLE_PEER_FAILED_VERIFICATION, "", 0).is_torn);
  CHECK_FALSE(failure_of(CURLE_WRITE_ERROR, "", 0).is_torn);
}

TEST_CASE("Only an unknown authority is helped by a file of certificates") {
  constexpr long kExpired = 10, kSelfSigned = 18, kNoIssuer = 20;
  const auto says = [](long verified) {
    return failure_of(CURLE_PEER_FAILED_VERIFICATION, "SSL certificate problem", verified)
               .text.find("SSL_CERT_FILE") != std::string::npos;
  };
  CHECK(says(kNoIssuer));
  CHECK(says(kSelfSigned));
  CHECK_FALSE(says(kExpired));
  CHECK_FALSE(says(0));  // another host's
}

TEST_CASE("A proxy's address with its password is not repeated, and libcurl's words are escaped") {
  const Failure proxy =
      failure_of(CURLE_COULDNT_RESOLVE_PROXY, "Unsupported proxy syntax in 'http://a:s3cret@h'", 0);
  CHECK(proxy.text.find("s3cret") == std::string::npos);
  CHECK_FALSE(proxy.passes);
  CHECK(failure_of(CURLE_RECV_ERROR, "bad \x1b[2J", 0).text == "bad \\x1b[2J");
  CHECK(failure_of(CURLE_RECV_ERROR, "", 0).text != "");
}
