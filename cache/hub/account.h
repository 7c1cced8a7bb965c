// Whose a token is: GET /api/whoami-v2.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cache/http/client.h"

namespace hf::cache {

struct Account {
  std::string name, type;        // "user" or "org"
  std::string token_name, role;  // of the token; empty where the Hub does not tell, as of OAuth's
  std::vector<std::string> orgs;
};

// Error{integrity} with `subject` in front where it is no such answer, or a name holds control characters.
Account parse_account(std::string_view text, std::string_view subject);

// Error{denied} where the Hub does not know the token.
Account account_of(Client& client, const std::string& endpoint, const std::string& token);

}  // namespace hf::cache
