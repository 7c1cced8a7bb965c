// Which exit code each kind of fault ends in, at the command line: the table of DESIGN's codes as users meet
// them.
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "cache/loopback.h"
#include "support/child.h"
#include "support/fault.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

struct Row {
  const char* fault;  // as loopback_hub takes it; nullptr: none
  std::vector<std::string> words;
  int code;
  const char* said;  // in the message
};

std::map<std::string, std::string> variables_of(Loopback& loopback) {
  return {{"HF_ENDPOINT", loopback.hub().url()},
          {"HF_HUB_CACHE", loopback.cache_root().string()},
          {"HF_HUB_DOWNLOAD_TIMEOUT", "1"}};
}

void check(const Row& row, const Ended& ended) {
  CAPTURE(row.fault);
  CAPTURE(row.words[0]);
  CAPTURE(ended.err);
  CHECK(ended.code == row.code);
  CHECK(ended.err.find(row.said) != std::string::npos);
  CHECK((ended.code == 0 || ended.err.starts_with("hfcache: ")));
  CHECK((ended.code == 0 || ended.out.empty()));
}

using Words = std::vector<std::string>;
const Words kTiny = {"download", "acme/tiny"};

// What no repetition mends ends at once.
const Row kQuick[] = {
    {"404-repo,target=/api/,times=-1", kTiny, 3, "no such repository"},
    {"404-revision,target=/api/,times=-1", kTiny, 3, "revision"},
    {"404-entry,target=model.safetensors,times=-1", kTiny, 3, "model.safetensors"},
    {"410,target=/api/,times=-1", kTiny, 3, "acme/tiny"},
    {"401,target=/api/,times=-1", kTiny, 4, "acme/tiny"},
    {"403,target=/resolve/,times=-1", kTiny, 4, "config.json"},
    {"gated,target=/api/,times=-1", kTiny, 4, "acme/tiny"},
    {"gated,target=/resolve/,times=-1", kTiny, 4, "config.json"},
    {"disabled,target=/api/,times=-1", kTiny, 4, "acme/tiny"},
    {"bad-token,target=/api/,times=-1", kTiny, 4, "token"},
    {"400,target=/api/,times=-1", kTiny, 5, "400"},
    {"redirect-11,target=/resolve/,times=-1", kTiny, 5, "redirect"},
    {"redirect-file,target=/resolve/,times=-1", kTiny, 5, "file:///etc/passwd"},
    {"429-day,target=/api/,times=-1", kTiny, 5, "429"},
    {"no-json,target=/tree/,times=-1", kTiny, 6, "acme/tiny"},
    {"deep-json,target=/tree/,times=-1", kTiny, 6, "acme/tiny"},
    {"no-sha,target=/revision/,times=-1", kTiny, 6, "acme/tiny"},
    {"unsafe-path,target=/tree/,times=-1", kTiny, 6, ""},
    {"duplicate-path,target=/tree/,times=-1", kTiny, 6, "twice"},
    {"file-and-folder,target=/tree/,times=-1", kTiny, 6, ""},
    {"wrong-content,target=/resolve/,times=-1", kTiny, 6, "config.json"},
    {"wrong-etag,target=/resolve/,times=-1", kTiny, 6, "config.json"},
    {"other-commit,target=/resolve/,times=-1", kTiny, 6, "config.json"},
    {"html-page,target=/resolve/,times=-1", kTiny, 6, ""},
    {nullptr, {"download", "acme/tiny", "none.json"}, 3, "none.json"},
    {nullptr, {"download", "acme/tiny", "--include", "*.none"}, 3, "acme/tiny"},
    {nullptr, {"download", "acme/none"}, 3, "acme/none"},
    {nullptr, {"download", "acme/tiny", "--cache-dir", "/proc/none"}, 8, "/proc"},
    {nullptr, {"download", "acme/tiny", "--cache-dir", "/dev/null"}, 8, "/dev/null"},
    {nullptr, {"download", "acme/tiny", "--local-dir", "/proc/none"}, 8, "/proc"},
    {nullptr, {"download", "acme/tiny", "--token-file", "/none"}, 3, "/none"},
    {nullptr, {"download", "acme/../tiny"}, 2, "acme/../tiny"},
    {nullptr, {"download", "datasets/acme/tiny", "--repo-type", "model"}, 2, "--repo-type"},
    {nullptr, {"download", "--from", "/none"}, 3, "/none"},
    {nullptr, {"download", "acme/tiny", "--from", "x"}, 2, "--from"},
    {nullptr, {"download", "acme/tiny", "--limit-rate", "fast"}, 2, "--limit-rate"},
    {nullptr, {"download", "acme/tiny", "--limit-rate", "0"}, 2, "--limit-rate"},
    {nullptr, {"path", "acme/tiny"}, 3, "acme/tiny"},
};

// What might pass is tried for half a minute; side by side.
const Row kPatient[] = {
    {"503,target=/api/,times=-1", kTiny, 5, "503"},
    {"500,target=/resolve/,times=-1", kTiny, 5, "500"},
    {"drop-before-head,target=/resolve/,times=-1", kTiny, 5, "config.json"},
    {"no-http,target=/api/,times=-1", kTiny, 5, "/api/"},
    {"stall-in-head,target=/resolve/,times=-1", {"download", "acme/tiny", "config.json"}, 5, "config.json"},
};

}  // namespace

TEST_CASE("Exit codes of faults that no repetition mends") {
  for (const Row& row : kQuick) {
    Loopback loopback;
    if (row.fault != nullptr) loopback.hub().order(parse_fault(row.fault));
    check(row, run("hfcache", row.words, variables_of(loopback)));
  }
}

TEST_CASE("Exit codes of faults that are given time to pass") {
  std::vector<std::unique_ptr<Loopback>> hubs;
  std::vector<std::unique_ptr<Child>> children;
  for (const Row& row : kPatient) {
    hubs.push_back(std::make_unique<Loopback>());
    hubs.back()->hub().order(parse_fault(row.fault));
    children.push_back(std::make_unique<Child>("hfcache", row.words, variables_of(*hubs.back())));
  }
  auto variables = variables_of(*hubs[0]);
  variables["HF_ENDPOINT"] = "http://hub.example";
  variables["http_proxy"] = "http://user:secret@127.0.0.1:1";
  variables.erase("HF_HUB_DOWNLOAD_TIMEOUT");
  Child behind_proxy("hfcache", kTiny, variables);
  for (std::size_t i = 0; i < children.size(); ++i) check(kPatient[i], children[i]->wait());
  const Ended proxied = behind_proxy.wait();
  CHECK(proxied.code == 5);
  CHECK(proxied.err.find("secret") == std::string::npos);
}

TEST_CASE("Of several failures the first in list order decides, and all are told") {
  Loopback loopback;
  loopback.hub().order(parse_fault("403,target=config.json,times=-1"));
  loopback.hub().order(parse_fault("wrong-content,target=model.safetensors,times=-1"));
  const Ended ended = run("hfcache", kTiny, variables_of(loopback));
  CHECK(ended.code == 4);
  CHECK(ended.err.find("config.json") != std::string::npos);
  CHECK(ended.err.find("model.safetensors") != std::string::npos);
}

TEST_CASE("Signals end a download in 130 and 143") {
  for (const int signal : {SIGINT, SIGTERM}) {
    Loopback loopback;
    loopback.hub().order(parse_fault("slow,target=model.safetensors,times=-1,at=20000"));
    Child child("hfcache", {"download", "acme/tiny", "--json"}, variables_of(loopback));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (loopback.hub().bytes_served("model.safetensors") == 0 &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    child.send(signal);
    const Ended ended = child.wait();
    CHECK(ended.code == 128 + signal);
    CHECK(ended.out.find("\"kind\":\"interrupted\",\"exit_code\":" + std::to_string(128 + signal)) !=
          std::string::npos);
  }
}

TEST_CASE("Offline what is missing is named, and where it was looked for") {
  Loopback loopback;
  auto variables = variables_of(loopback);
  for (const char* variable : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    auto offline = variables;
    offline[variable] = "1";
    const Ended ended = run("hfcache", kTiny, offline);
    CHECK(ended.code == 3);
    for (const std::string& part :
         {std::string(variable), std::string("HF_HUB_CACHE"), loopback.cache_root().string()})
      CHECK(ended.err.find(part) != std::string::npos);
    CHECK(run("hfcache", {"download", "acme/tiny", "--dry-run"}, offline).code == 2);
    CHECK(run("hfcache", {"download", "acme/tiny", "--force-download"}, offline).code == 2);
  }
  CHECK(loopback.hub().log().empty());
}
