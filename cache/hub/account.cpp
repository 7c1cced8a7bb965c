#include "cache/hub/account.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/json_guard.h"
#include "cache/http/url.h"
#include "cache/hub/answers.h"

namespace hf::cache {
namespace {

using nlohmann::json;

// A string of an object, empty where there is none; it becomes a line of a file and of a terminal.
std::string text_in(const json& object, const char* key, std::string_view subject) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string())
    throw Error(ErrorKind::integrity, std::string(subject) + ": " + in_quotes(key) + " is no text");
  const std::string& text = found->get_ref<const std::string&>();
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    throw Error(ErrorKind::integrity,
                std::string(subject) + ": " + in_quotes(key) + " is " + in_quotes(text) + ", no name");
  return text;
}

const json& object_in(const json& object, const char* key) {
  static const json kNone = json::object();
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kNone;
}

}  // namespace

Account parse_account(std::string_view text, std::string_view subject) {
  const json answer = parse_json(text, subject);
  Account account;
  account.name = text_in(answer, "name", subject);
  if (account.name.empty()) throw Error(ErrorKind::integrity, std::string(subject) + ": has no \"name\"");
  account.type = text_in(answer, "type", subject);
  const json& token = object_in(object_in(answer, "auth"), "accessToken");
  account.token_name = text_in(token, "displayName", subject);
  account.role = text_in(token, "role", subject);
  if (const auto orgs = answer.find("orgs"); orgs != answer.end() && orgs->is_array())
    for (const json& org : *orgs)
      if (std::string name = text_in(org, "name", subject); !name.empty()) account.orgs.push_back(name);
  return account;
}

Account account_of(Client& client, const std::string& endpoint, const std::string& token) {
  const std::string subject = "token at " + shown_url(endpoint);
  const Response response = client.send({.url = endpoint + "/api/whoami-v2", .bearer = token});
  if (response.status() == 401)
    throw Error(ErrorKind::denied, subject + ": is not valid, the Hub does not know it");
  if (!response.ok())
    throw refusal({.status = response.status(),
                   .code = response.find("x-error-code").value_or(""),
                   .message = response.find("x-error-message").value_or(""),
                   .requested_wait = response.requested_wait()},
                  subject);
  return parse_account(response.body, subject);
}

}  // namespace hf::cache
