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

struct Fact {
  std::string name, value;
  std::string from;  // the variable or option that says so; empty: none, it is the default
};

// The first of the variables that is set.
std::string first_set(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (environment.get(name)) return name;
  return "";
}

std::string seconds(std::chrono::milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

std::vector<Fact> facts_of(const Environment& e, const EnvOptions& options) {
  const ClientOptions client = client_options(e);
  const Store store = Store::of(e, options.cache_dir);
  const auto from = [&](std::initializer_list<const char*> names) { return first_set(e, names); };
  std::vector<Fact> facts = {
      {"version", std::string(program_version()), ""},
      {"endpoint", endpoint(e), from({"HF_ENDPOINT"})},
      {"home", hf_home(e).string(), from({"HF_HOME", "XDG_CACHE_HOME"})},
      {"cache", store.root().string(),
       options.cache_dir ? "--cache-dir" : text_or_empty(cache_root_variable(e))},
      {"links", store.links() == Links::where_possible ? "where possible" : "none",
       from({"HF_HUB_DISABLE_SYMLINKS"})},
      {"token", token_state(e),
       from({"HF_HUB_DISABLE_IMPLICIT_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"})},
      {"token file", token_path(e).string(), from({"HF_TOKEN_PATH", "HF_HOME", "XDG_CACHE_HOME"})},
      {"offline", is_offline(e) ? "yes" : "no", from({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})},
      {"connect timeout", seconds(client.connect_timeout), from({"HF_HUB_ETAG_TIMEOUT"})},
      {"stall timeout", seconds(client.stall_timeout), from({"HF_HUB_DOWNLOAD_TIMEOUT"})},
      {"progress", e.is_on("HF_HUB_DISABLE_PROGRESS_BARS") ? "no" : "on terminals",
       from({"HF_HUB_DISABLE_PROGRESS_BARS"})},
      {"trace", e.is_on("HF_DEBUG") ? "yes" : "no", from({"HF_DEBUG"})},
  };
  if (!client.ca_file.empty())
    facts.push_back(
        {"certificates", client.ca_file, from({"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})});
  if (!client.ca_folder.empty()) facts.push_back({"certificates in", client.ca_folder, "SSL_CERT_DIR"});
  for (const char* name :
       {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"})
    if (const auto value = e.get(name)) facts.push_back({name, without_user(*value), name});
  return facts;
}

int run_env(const EnvOptions& options) {
  const std::vector<Fact> facts = facts_of(Environment::of_process(), options);
  if (options.json) {
    nlohmann::ordered_json out, sources = nlohmann::ordered_json::object();
    for (const Fact& fact : facts) {
      out[fact.name] = fact.value;
      if (!fact.from.empty()) sources[fact.name] = fact.from;
    }
    out["sources"] = std::move(sources);
    print_json(out);
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(facts.size());
  for (const Fact& fact : facts) rows.push_back({fact.name, fact.value, fact.from});
  print_out(format_table({{"NAME"}, {"VALUE"}, {"FROM"}}, rows));
  return 0;
}

}  // namespace

Command env_command() {
  const auto o = std::make_shared<EnvOptions>();
  return {.name = "env",
          .about = "Show what the environment variables come to",
          .detail =
              "FROM is the variable that says so; what has none is the default. Tokens and passwords are not "
              "shown.",
          .examples = {"hfcache env", "HF_HOME=/mnt/hf hfcache env --json"},
          .exits = exits_of({0, 2}),
          .arguments = common_rows(*o),
          .run = [o] { return run_env(*o); }};
}

}  // namespace hf::cache
