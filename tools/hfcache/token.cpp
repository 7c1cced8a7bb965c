// hfcache token, token login, token whoami, token logout.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/account.h"
#include "cache/hub/credentials.h"
#include "cache/store/stored_tokens.h"
#include "tools/hfcache/commands.h"
#include "tools/hfcache/remote.h"
#include "tools/hfcache/token_input.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct TokenOptions {
  bool json = false, quiet = false;
  std::optional<std::filesystem::path> token_file;
  std::string name;
};

// The variable whose token goes before the stored ones; empty where none does.
std::string overriding_variable(const Environment& environment) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (environment.get(name)) return name;
  return "";
}

void note(const TokenOptions& options, const std::string& text) {
  if (!options.quiet) std::fprintf(stderr, "%s\n", text.c_str());
}

void note_override(const TokenOptions& options, const Environment& environment) {
  if (const std::string variable = overriding_variable(environment); !variable.empty())
    note(options, variable + ": is set, its token is sent and not a stored one");
}

std::string day_of(std::string_view unix_time) {
  std::time_t time = 0;
  if (!read_value(time, std::string(unix_time))) return "";
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&time, &parts) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%d", &parts) == 0)
    return "";
  return time < std::time(nullptr) ? std::string(text) + " (expired)" : text;
}

int run_list(const TokenOptions& options) {
  const Environment environment = Environment::of_process();
  const StoredTokens stored(environment);
  const std::string in_use = stored.in_use();
  const std::string variable = overriding_variable(environment);
  nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const StoredToken& token : stored.all()) {
    const bool used = token.token() == in_use && variable.empty();
    const std::string expires = day_of(token.field("expires_at"));
    rows.push_back({token.name, used ? "yes" : "", expires});
    tokens.push_back({{"name", token.name}, {"in_use", used}});
    if (!expires.empty()) tokens.back()["expires"] = expires.substr(0, 10);
  }
  if (options.json) {
    print_json({{"token_file", stored.token_file().string()},
                {"variable", variable.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(variable)},
                {"has_token", !token(environment, std::nullopt).empty()},
                {"tokens", std::move(tokens)}});
    return 0;
  }
  print_out(format_table({{"NAME"}, {"IN USE"}, {"EXPIRES"}}, rows));
  note_override(options, environment);
  return 0;
}

int run_login(const TokenOptions& options) {
  const Environment environment = Environment::of_process();
  require_online(environment, "login, which asks whose the token is,");
  const std::string given = options.token_file ? token_for(environment, options.token_file) : typed_token();
  if (given.starts_with("api_org"))
    throw Error(ErrorKind::usage, "the token: is an organisation's, a user's is expected");
  Client client(remote_options(environment));
  const Account account = account_of(client, endpoint(environment), given);
  const std::string name = account.token_name.empty() ? "oauth-" + account.name : account.token_name;
  const StoredTokens stored(environment);
  stored.save(name, given);
  if (options.json)
    print_json({{"user", account.name},
                {"token", name},
                {"role", account.role},
                {"token_file", stored.token_file().string()}});
  else
    print_out("logged in as " + escaped(account.name) + " with token " + in_quotes(name) +
              (account.role.empty() ? "" : ", which may " + escaped(account.role)) + "\n");
  note_override(options, environment);
  return 0;
}

int run_whoami(const TokenOptions& options) {
  const Environment environment = Environment::of_process();
  require_online(environment, "whoami");
  const std::string given = token_for(environment, options.token_file);
  if (given.empty())
    throw Error(ErrorKind::denied, "no token: none is set or stored, `hfcache token login` stores one");
  Client client(remote_options(environment));
  const Account account = account_of(client, endpoint(environment), given);
  if (options.json) {
    print_json({{"user", account.name},
                {"type", account.type},
                {"orgs", account.orgs},
                {"token", account.token_name},
                {"role", account.role},
                {"endpoint", endpoint(environment)}});
    return 0;
  }
  std::string orgs;
  for (const std::string& org : account.orgs) orgs += (orgs.empty() ? "" : ", ") + org;
  std::vector<std::vector<std::string>> rows = {{"user", account.name}, {"endpoint", endpoint(environment)}};
  for (const auto& [name, value] : {std::pair{"type", account.type},
                                    {"orgs", orgs},
                                    {"token", account.token_name},
                                    {"role", account.role}})
    if (!value.empty()) rows.push_back({name, value});
  print_out(format_table({{"NAME"}, {"VALUE"}}, rows));
  return 0;
}

int run_logout(const TokenOptions& options) {
  const Environment environment = Environment::of_process();
  const StoredTokens stored(environment);
  const bool done = options.name.empty() ? stored.remove_all() : stored.remove(options.name);
  if (!done)
    throw Error(ErrorKind::not_found,
                (options.name.empty() ? "no token" : "token " + in_quotes(options.name)) +
                    ": is not stored in " + shown(stored.list_file()));
  if (options.json)
    print_json(
        {{"removed", options.name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.name)},
         {"token_file", stored.token_file().string()}});
  note(options, options.name.empty() ? "all stored tokens are removed" : "the token is removed");
  note_override(options, environment);
  return 0;
}

std::vector<Argument> report_rows(TokenOptions& o) {
  return {flag("--json", o.json, "Print JSON"), flag("-q,--quiet", o.quiet, "No notes on standard error")};
}

Command login_command() {
  const auto o = std::make_shared<TokenOptions>();
  Argument file = token_file_row(o->token_file);
  file.help = "File with the token, \"-\" for standard input, instead of being asked";
  return {.name = "login",
          .about = "Store a token",
          .detail =
              "Asks the Hub whose the token is, then stores it under the name that it has there and makes it "
              "the one in use.",
          .examples = {"hfcache token login", "hfcache token login --token-file - < token.txt"},
          .exits = exits_of({0, 2, 4, 5, 6, 8, 130}),
          .arguments = joined({{file}, report_rows(*o)}),
          .run = [o] { return run_login(*o); }};
}

Command whoami_command() {
  const auto o = std::make_shared<TokenOptions>();
  return {.name = "whoami",
          .about = "Tell whose the token is and what it may do",
          .examples = {"hfcache token whoami", "hfcache token whoami --json"},
          .exits = exits_of({0, 2, 4, 5, 6, 8, 130}),
          .arguments = joined({{token_file_row(o->token_file)}, report_rows(*o)}),
          .run = [o] { return run_whoami(*o); }};
}

Command logout_command() {
  const auto o = std::make_shared<TokenOptions>();
  return {.name = "logout",
          .about = "Remove stored tokens",
          .examples = {"hfcache token logout", "hfcache token logout my-token"},
          .exits = exits_of({0, 2, 3, 6, 8}),
          .arguments = joined({{positional("NAME", o->name, "Only the token of this name; else all of them")},
                               report_rows(*o)}),
          .run = [o] { return run_logout(*o); }};
}

}  // namespace

Command token_command() {
  const auto o = std::make_shared<TokenOptions>();
  return {
      .name = "token",
      .about = "List, store and remove the Hub's tokens",
      .detail =
          "Tokens are kept where and as huggingface_hub keeps them, so that each login serves both: the "
          "one in use in the file HF_TOKEN_PATH, all of them in stored_tokens beside it, readable by "
          "their owner alone. No command prints a token.",
      .examples = {"hfcache token", "hfcache token login", "hfcache token whoami", "hfcache token logout"},
      .exits = exits_of({0, 2, 6, 8}),
      .arguments = report_rows(*o),
      .commands = {login_command(), whoami_command(), logout_command()},
      .run = [o] { return run_list(*o); }};
}

}  // namespace hf::cache
