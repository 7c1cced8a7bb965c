// hfcache: the root of the command table. Each sub-command has its row in the file of its name.
#include <sys/resource.h>

#include "tools/hfcache/commands.h"
#include "tools/program/command_line.h"
#include "tools/program/resolve_model.h"

namespace {

using namespace hf;

std::vector<Variable> variables() {
  return {
      {"HF_ENDPOINT", "The Hub, or what stands in for it; https://huggingface.co where not set"},
      {"HF_HOME", "Folder of the cache, the token and more; ~/.cache/huggingface, or below XDG_CACHE_HOME"},
      {"HF_HUB_CACHE", "The cache; then HUGGINGFACE_HUB_CACHE, TRANSFORMERS_CACHE, HF_HOME/hub"},
      {"HF_TOKEN", "The token; then HUGGING_FACE_HUB_TOKEN, the file HF_TOKEN_PATH, HF_HOME/token"},
      {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1: send no token but that of --token-file"},
      {"HF_HUB_OFFLINE", "1: never use the network; TRANSFORMERS_OFFLINE is the same"},
      {"HF_HUB_ETAG_TIMEOUT", "Seconds until a connection must stand"},
      {"HF_HUB_DOWNLOAD_TIMEOUT", "Seconds without a byte after which a transfer is taken up again"},
      {"HF_HUB_DISABLE_SYMLINKS", "1: put files into snapshots, not links"},
      {"HF_HUB_DISABLE_PROGRESS_BARS", "1: no progress display; NO_COLOR takes its colours away"},
      {"HF_DEBUG", "1: show each request on standard error, without tokens"},
      {"https_proxy", "The proxy, also HTTPS_PROXY and ALL_PROXY; http_proxy for http; no_proxy for none"},
      {"REQUESTS_CA_BUNDLE",
       "File of trusted certificates; then CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR"},
  };
}

Command hfcache() {
  using namespace cache;
  return {.name = "hfcache",
          .about = "Carry models, data sets and spaces from a Hugging Face Hub into the local cache",
          .detail =
              "The cache is that of huggingface_hub and transformers: what one of them wrote the others "
              "read. Every byte is checked against the Hub's hashes before it gets its name.",
          .examples = {"hfcache download sentence-transformers/all-MiniLM-L6-v2",
                       "hfcache path sentence-transformers/all-MiniLM-L6-v2 config.json", "hfcache ls"},
          .exits = exits_of({0, 1, 2, 3, 4, 5, 6, 8, 130}),
          .variables = variables(),
          .commands = {download_command(), ls_command(), path_command(), verify_command(), adopt_command(),
                       prune_command(), rm_command(), token_command(), env_command()},
          .suggest = [](Completes) { return cached_repos(); }};
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // a core would hold the token
  return run_command_line(hfcache(), argc, argv);
}
