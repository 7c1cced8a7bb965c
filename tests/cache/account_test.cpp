#include "cache/hub/account.h"

#include <doctest/doctest.h>

#include "cache/loopback.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::cache;
using namespace hf::test;

TEST_CASE("An account as the Hub tells it") {
  const Account account = parse_account(
      R"({"name": "ann", "type": "user", "orgs": [{"name": "acme"}, {"name": "lab"}, {}],
          "auth": {"type": "access_token", "accessToken": {"displayName": "laptop", "role": "read"}}})",
      "token");
  CHECK(account.name == "ann");
  CHECK(account.type == "user");
  CHECK(account.orgs == std::vector<std::string>{"acme", "lab"});
  CHECK(account.token_name == "laptop");
  CHECK(account.role == "read");
  CHECK(parse_account(R"({"name": "ann", "auth": null, "orgs": null})", "token").token_name.empty());
}

TEST_CASE("An account that is none") {
  for (const char* text : {"", "[]", "{}", "7", R"({"name": 7})", R"({"name": ""})", R"({"name": "a\nb"})",
                           R"({"name": "a", "auth": {"accessToken": {"displayName": "x\u001b[2J"}}})",
                           R"({"name": "a", "orgs": [{"name": []}]})"}) {
    CAPTURE(text);
    CHECK(error_of([&] { parse_account(text, "token"); }) == ErrorKind::integrity);
  }
}

TEST_CASE("A token that the Hub does not know is not allowed") {
  Loopback loopback;
  CHECK(account_of(loopback.client(), loopback.hub().url(), "hf_x").name == "local");
  CHECK(loopback.hub().log().back().authorization == "Bearer hf_x");
  CHECK(error_of([&] { account_of(loopback.client(), loopback.hub().url(), ""); }) == ErrorKind::denied);
  CHECK(error_of([&] { account_of(loopback.client(), loopback.hub().url() + "/none", "hf_x"); }) ==
        ErrorKind::not_found);
}
