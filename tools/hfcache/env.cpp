#include <memory>
#include <nlohmann/json.hpp>

#include "cache/http/client.h"
#include "cache/hub/credentials.h"
#include "cache/store/store.h"
#include "tools/hfcache/commands.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct EnvOptions : CommonOptions {};

// Whether there is a token, never the token.
std::string token_state(const Environment& environment) {
  if (environment.is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return "not sent (HF_HUB_DISABLE_IMPLICIT_TOKEN)";
  return token(environment, std::nullopt).empty() ? "none" : "set";
}

// A proxy's address may hold a password.
std::string without_user(std::string url) {
  const std::size_t at = url.rfind('@');
  const std::size_t slashes = url.find("//");
  const std::size_t begin = slashes == std::string::npos ? 0 : slashes + 2;
  if (at != std::string::npos && at >= begin) url.replace(begin, at - begin, "***");
  return url;
}

int run_env(const EnvOptions& options) {
  const Environment environment = Environment::of_process();
  const ClientOptions client = client_options(environment);
  const auto seconds = [](std::chrono::milliseconds time) {
    return std::to_string(time.count() / 1000) + " s";
  };
  std::vector<std::pair<std::string, std::string>> facts = {
      {"version", std::string(program_version())},
      {"endpoint", endpoint(environment)},
      {"home", hf_home(environment).string()},
      {"cache", cache_root(environment, options.cache_dir).string()},
      {"token", token_state(environment)},
      {"offline", is_offline(environment) ? "yes" : "no"},
      {"connect timeout", seconds(client.connect_timeout)},
      {"stall timeout", seconds(client.stall_timeout)},
  };
  if (!client.ca_file.empty()) facts.emplace_back("certificates", client.ca_file);
  if (!client.ca_folder.empty()) facts.emplace_back("certificates in", client.ca_folder);
  for (const char* name :
       {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"})
    if (const auto value = environment.get(name)) facts.emplace_back(name, without_user(*value));

  if (options.json) {
    nlohmann::ordered_json out;
    for (const auto& [name, value] : facts) out[name] = value;
    print_json(out);
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(facts.size());
  for (const auto& [name, value] : facts) rows.push_back({name, value});
  print_out(format_table({{"NAME"}, {"VALUE"}}, rows));
  return 0;
}

}  // namespace

Command env_command() {
  const auto o = std::make_shared<EnvOptions>();
  return {.name = "env",
          .about = "Show what the environment variables come to",
          .detail = "Tokens and passwords are not shown.",
          .examples = {"hfcache env", "HF_HOME=/mnt/hf hfcache env --json"},
          .exits = exits_of({0, 2}),
          .arguments = common_rows(*o),
          .run = [o] { return run_env(*o); }};
}

}  // namespace hf::cache
