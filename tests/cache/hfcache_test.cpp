// The program as its users see it: output, exit codes, variables.
#include <nlohmann/json.hpp>
#include <thread>

#include "cache/loopback.h"
#include "support/child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

Ended hfcache(Loopback& loopback, std::vector<std::string> arguments,
              std::map<std::string, std::string> variables = {}) {
  variables.emplace("HF_ENDPOINT", loopback.hub().url());
  variables.emplace("HF_HUB_CACHE", loopback.cache_root().string());
  return run("hfcache", arguments, variables);
}

}  // namespace

TEST_CASE("A download prints the snapshot and nothing else") {
  Loopback loopback;
  const Ended ended = hfcache(loopback, {"download", "acme/tiny"});
  CHECK(ended.code == 0);
  CHECK(ended.out ==
        (loopback.repo_folder() / "snapshots" / loopback.hub().commit("acme/tiny")).string() + "\n");
  CHECK(ended.err.empty());  // no progress where stderr is no terminal
  CHECK(hfcache(loopback, {"path", "acme/tiny"}).out == ended.out);
  CHECK(loopback.hub().log()[0].user_agent.starts_with("hfcache/"));
}

TEST_CASE("A dry run writes nothing") {
  Loopback loopback;
  const Ended table = hfcache(loopback, {"download", "acme/tiny", "--dry-run"});
  CHECK(table.code == 0);
  CHECK(table.out.starts_with("FILE"));
  CHECK(table.out.find("model.safetensors") != std::string::npos);
  CHECK(table.out.ends_with("4 files, 327.7 kB, of which 327.7 kB to fetch\n"));
  const auto json =
      nlohmann::json::parse(hfcache(loopback, {"download", "acme/tiny", "--dry-run", "--json"}).out);
  CHECK(json["commit"] == loopback.hub().commit("acme/tiny"));
  CHECK(json["files"].size() == 4);
  CHECK(json["files"][0]["path"] == "config.json");
  CHECK(json["files"][0]["state"] == "missing");
  CHECK_FALSE(json.contains("path"));
  CHECK_FALSE(fs::exists(loopback.cache_root()));
}

TEST_CASE("Exit codes tell the kind of failure") {
  Loopback loopback;
  put(loopback.root() / "acme/gated/config.json", "{}");
  loopback.hub().gate("acme/gated", "hf_secret");
  const auto code = [&](std::vector<std::string> arguments) {
    return hfcache(loopback, std::move(arguments)).code;
  };
  CHECK(code({}) == 2);
  CHECK(code({"--no-such-flag"}) == 2);
  CHECK(code({"download"}) == 2);
  CHECK(code({"download", "acme/tiny", "--max-workers", "0"}) == 2);
  CHECK(code({"download", "acme/tiny", "--repo-type", "modle"}) == 2);
  CHECK(code({"download", "acme/../tiny"}) == 2);
  CHECK(code({"download", "acme/tiny", "config.json", "--include", "*"}) == 2);
  CHECK(code({"download", "acme/none"}) == 3);
  CHECK(code({"download", "acme/tiny", "--revision", "none"}) == 3);
  CHECK(code({"download", "acme/tiny", "none.json"}) == 3);
  CHECK(code({"path", "acme/tiny"}) == 3);
  CHECK(code({"download", "acme/gated"}) == 4);
  CHECK(code({"download", "acme/tiny", "--cache-dir", "/proc/none"}) != 0);
  loopback.hub().order({FaultKind::wrong_content, "/resolve/", -1});
  CHECK(code({"download", "acme/tiny"}) == 6);
  CHECK(code({"--help"}) == 0);
  CHECK(code({"download", "--help"}) == 0);
  CHECK(code({"--version"}) == 0);
}

TEST_CASE("A message says what and where and shows no raw bytes of a stranger") {
  Loopback loopback;
  const Ended ended = hfcache(loopback, {"download", "acme/tiny", "--revision", "x\x1b[2J"});
  CHECK(ended.code == 2);
  CHECK(ended.out.empty());
  CHECK(ended.err.starts_with("hfcache: "));
  CHECK(ended.err.find('\x1b') == std::string::npos);
}

TEST_CASE("Tokens come from a file or the environment and are never shown") {
  Loopback loopback;
  put(loopback.root() / "acme/gated/config.json", "{}");
  loopback.hub().gate("acme/gated", "hf_secret");
  put(loopback.cache_root().parent_path() / "token", "hf_secret\n");
  const std::string file = (loopback.cache_root().parent_path() / "token").string();
  CHECK(hfcache(loopback, {"download", "acme/gated", "--token-file", file}).code == 0);
  const Ended debug = hfcache(loopback, {"download", "acme/gated", "--force-download"},
                              {{"HF_TOKEN", "hf_secret"}, {"HF_DEBUG", "1"}});
  CHECK(debug.code == 0);
  CHECK(debug.err.find("/api/models/acme/gated") != std::string::npos);
  CHECK((debug.out + debug.err).find("hf_secret") == std::string::npos);
  const Ended env =
      hfcache(loopback, {"env"}, {{"HF_TOKEN", "hf_secret"}, {"https_proxy", "http://u:pw@proxy:1"}});
  CHECK(env.code == 0);
  CHECK(env.out.find("hf_secret") == std::string::npos);
  CHECK(env.out.find("pw") == std::string::npos);
  CHECK(env.out.find("***@proxy:1") != std::string::npos);
}

TEST_CASE("Offline nothing is asked") {
  Loopback loopback;
  const std::map<std::string, std::string> offline = {{"HF_HUB_OFFLINE", "1"}};
  CHECK(hfcache(loopback, {"download", "acme/tiny"}, offline).code == 3);
  const Ended online = hfcache(loopback, {"download", "acme/tiny"});
  loopback.hub().clear_log();
  const Ended again = hfcache(loopback, {"download", "acme/tiny"}, offline);
  CHECK(again.code == 0);
  CHECK(again.out == online.out);
  CHECK(hfcache(loopback, {"download", "acme/tiny", "--dry-run"}, offline).code == 2);
  fs::remove(fs::path(online.out.substr(0, online.out.size() - 1)) / "model.safetensors");
  const Ended incomplete = hfcache(loopback, {"download", "acme/tiny"}, offline);
  CHECK(incomplete.code == 3);
  CHECK(incomplete.err.find("\"model.safetensors\"") != std::string::npos);
  CHECK(loopback.hub().log().empty());
}

TEST_CASE("Where a file lies") {
  Loopback loopback;
  hfcache(loopback, {"download", "acme/tiny"});
  const Ended file = hfcache(loopback, {"path", "acme/tiny", "config.json"});
  CHECK(file.code == 0);
  CHECK(fs::is_regular_file(file.out.substr(0, file.out.size() - 1)));
  CHECK(hfcache(loopback, {"path", "acme/tiny", "none"}).code == 3);
  CHECK(hfcache(loopback, {"path", "acme/tiny", "../../refs/main"}).code != 0);
  const auto json = nlohmann::json::parse(hfcache(loopback, {"path", "acme/tiny", "--json"}).out);
  CHECK(json["commit"] == loopback.hub().commit("acme/tiny"));
}

TEST_CASE("What the environment comes to") {
  Loopback loopback;
  const auto json =
      nlohmann::json::parse(hfcache(loopback, {"env", "--json"},
                                    {{"HF_ENDPOINT", "http://hub.lan/"}, {"HF_HUB_DOWNLOAD_TIMEOUT", "30"}})
                                .out);
  CHECK(json["endpoint"] == "http://hub.lan");
  CHECK(json["cache"] == loopback.cache_root().string());
  CHECK(json["stall timeout"] == "30 s");
  CHECK(json["token"] == "none");
  CHECK(hfcache(loopback, {"env"}, {{"HF_HUB_DOWNLOAD_TIMEOUT", "soon"}}).code == 2);
}

TEST_CASE("The Hub on loopback as a program") {
  Loopback loopback;
  Child hub("loopback_hub", {loopback.root().string()});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(hub.is_running());
  hub.send(SIGTERM);
  const Ended ended = hub.wait();
  CHECK(ended.code == 0);
  CHECK(ended.out.starts_with("http://127.0.0.1:"));
  const Ended at_eof = run("loopback_hub", {loopback.root().string(), "--until-eof"});  // its input is empty
  CHECK(at_eof.code == 0);
  CHECK(run("loopback_hub", {"/no/such/folder"}).code == 2);
}
