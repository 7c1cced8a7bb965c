// The token goes to the Hub's own origin and nowhere else, whatever redirects say; it is not in what the
// program prints, in its arguments or in a core.
//
// The Hub is hub.example, behind a proxy that is every host there is and writes down all it is asked.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "support/child.h"
#include "support/http_server.h"
#include "support/skip.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

constexpr std::string_view kToken = "hf_SecretSecretSecret";
constexpr std::string_view kContent = "{\"model_type\": \"bert\"}\n";
const std::string kCommit(40, 'c');

std::string git_oid() {
  Hasher hasher(HashKind::git_sha1, kContent.size());
  hasher.update(std::as_bytes(std::span(kContent)));
  return hasher.hex();
}

struct Seen {
  std::string origin;  // "host:port" as asked for, in lower case
  HttpRequest request;
};

// "http://user@HOST:80/x" -> "host:80", with the scheme's own port left out.
std::string origin_of(const std::string& target) {
  const std::size_t begin = target.find("//") + 2;
  std::string host = target.substr(begin, target.find_first_of("/?#", begin) - begin);
  host = host.substr(host.rfind('@') + 1);
  if (host.ends_with(":80")) host.resize(host.size() - 3);
  std::transform(host.begin(), host.end(), host.begin(), [](unsigned char c) { return std::tolower(c); });
  return host;
}

// Each host: hub.example answers as a Hub whose file lies where `chain` begins; others send on along the
// chain, then give the file.
class AllHosts {
 public:
  explicit AllHosts(std::vector<std::string> chain)
      : chain_(std::move(chain)),
        server_([this](const auto& request, auto& reply) { answer(request, reply); }) {}

  std::string url() const { return server_.url(); }
  std::vector<Seen> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void answer(const HttpRequest& request, HttpReply& reply) {
    const std::string target = request.target;
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back({origin_of(request.method == "CONNECT" ? "//" + target : target), request});
    }
    if (request.method == "CONNECT") return void(reply.head(403, {}, 0));
    if (target.ends_with("/revision/main")) return give(reply, "{\"sha\": \"" + kCommit + "\"}");
    if (target.find("/tree/") != target.npos)
      return give(
          reply,
          nlohmann::json::array(
              {{{"type", "file"}, {"path", "config.json"}, {"size", kContent.size()}, {"oid", git_oid()}}})
              .dump());
    const std::size_t step = steps_++;
    if (step < chain_.size())
      return void(reply.head(302,
                             {{"Location", chain_[step]},
                              {"X-Repo-Commit", kCommit},
                              {"X-Linked-Etag", "\"" + git_oid() + "\""},
                              {"Set-Cookie", "session=abc; Domain=example"}},
                             0));
    give(reply, std::string(kContent), {{"ETag", "\"" + git_oid() + "\""}, {"X-Repo-Commit", kCommit}});
  }

  static void give(HttpReply& reply, const std::string& body, HttpReply::Fields fields = {}) {
    if (reply.head(200, fields, body.size())) reply.write(body);
  }

  const std::vector<std::string> chain_;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
  std::atomic<std::size_t> steps_{0};
  HttpServer server_;
};

bool holds_token(std::string_view text) {
  return text.find(kToken) != text.npos || text.find("SecretSecret") != text.npos;
}

// Where the token may be: in the one header, at the one host.
void check_seen(const Seen& seen, bool& came_along) {
  CAPTURE(seen.request.target);
  CHECK_FALSE(holds_token(seen.request.target));
  CHECK_FALSE(holds_token(seen.request.body));
  CHECK(seen.request.header("referer") == "");
  CHECK(seen.request.header("cookie") == "");
  for (const auto& [name, value] : seen.request.headers) {
    CAPTURE(name);
    const bool may = seen.origin == "hub.example" && name == "authorization";
    if (may && holds_token(value)) came_along = true;
    if (!may) CHECK_FALSE(holds_token(value));
  }
}

struct Download {
  TempDir dir;
  std::map<std::string, std::string> variables;

  explicit Download(const AllHosts& hosts) {
    variables = {{"HF_ENDPOINT", "http://hub.example"},
                 {"http_proxy", hosts.url()},
                 {"https_proxy", hosts.url()},
                 {"HF_HOME", (dir / "home").string()},
                 {"HF_DEBUG", "1"}};
    std::ofstream(dir / "token") << kToken << '\n';
  }
  std::vector<std::string> words(const std::string& more = "") const {
    std::vector<std::string> out = {"download", "acme/t", "--token-file", (dir / "token").string()};
    if (!more.empty()) out.push_back(more);
    return out;
  }
};

void check_chain(const std::vector<std::string>& chain) {
  CAPTURE(chain.front());
  for (const char* more : {"", "--json"}) {
    const AllHosts hosts(chain);
    const Download download(hosts);
    const Ended ended = run("hfcache", download.words(more), download.variables);
    CAPTURE(ended.err);
    CHECK((ended.code == 0 || ended.code == 5));
    CHECK_FALSE(holds_token(ended.out));
    CHECK_FALSE(holds_token(ended.err));
    bool came_along = false;
    for (const Seen& seen : hosts.seen()) check_seen(seen, came_along);
    CHECK(came_along);  // else the test would see nothing
  }
}

using Chains = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("Redirects to other hosts do not take the token along") {
  const Chains chains = {
      {"http://evil.example/x"},
      {"http://evil.example/x", "http://other.example/x"},
      {"http://evil.example/x", "http://hub.example/back"},
      {"http://hub.example/here", "http://evil.example/x"},
      {"http://hub.example:8080/x"},
      {"http://hub.example:81/x", "http://hub.example/back"},
      {"http://hub.example:80/same"},
      {"http://HUB.EXAMPLE/same"},
      {"http://hub.example./dot"},
      {"http://hub.example.evil.example/x"},
      {"http://www.hub.example/x"},
      {"http://example/x"},
      {"//evil.example/x"},
      {"//hub.example/same", "//evil.example/x"},
      {"/relative", "//evil.example/x"},
      {"?query", "http://evil.example/x"},
      {"https://hub.example/x"},
      {"https://evil.example/x"},
      {"http://127.0.0.9/x"},
      {"http://[::1]/x"},
      {"http://[::ffff:127.0.0.1]/x"},
      {"http://2130706433/x"},
      {"http://0x7f.1/x"},
      {"http://xn--hb-fka.example/x"},
      {"http://h\xc3\xbc"
       "b.example/x"},
      {"http://hub\xe3\x80\x82"
       "example/x"},
      {"http://hub%2eexample/x"},
  };
  for (const auto& chain : chains) check_chain(chain);
}

TEST_CASE("Users in redirects are neither the Hub nor its users") {
  const Chains chains = {
      {"http://hub.example@evil.example/x"},
      {"http://hub.example:80@evil.example/x"},
      {"http://hub.example%40evil.example/x"},
      {"http://evil.example@hub.example/x"},
      {"http://user:password@evil.example/x"},
      {"http://evil.example#@hub.example/x"},
      {"http://evil.example?@hub.example/x"},
      {"http://evil.example\\@hub.example/x"},
      {"http://hub.example\\.evil.example/x"},
      {"http:\\\\evil.example\\x"},
      {"http:///evil.example/x"},
      {"http:evil.example/x"},
  };
  for (const auto& chain : chains) check_chain(chain);
}

TEST_CASE("What a redirect gives as user and password is not sent on") {
  const AllHosts hosts({"http://user:password@evil.example/x"});
  const Download download(hosts);
  run("hfcache", download.words(), download.variables);
  for (const Seen& seen : hosts.seen()) {
    CAPTURE(seen.request.target);
    if (seen.origin == "evil.example") CHECK(seen.request.header("authorization") == "");
  }
}

TEST_CASE("From https to http nothing is asked") {
  const TempDir dir;
  const std::string key = (dir / "key.pem").string(), certificate = (dir / "certificate.pem").string();
  const Ended made =
      run("/usr/bin/env", {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                           "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
                           "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate});
  if (made.code != 0) return skip("no openssl program");
  std::mutex mutex;
  std::vector<HttpRequest> asked;
  const HttpServer plain([&](const HttpRequest& request, HttpReply& reply) {
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    if (reply.head(200, {}, kContent.size())) reply.write(kContent);
  });
  // `openssl s_server -HTTP` answers with files that hold whole answers.
  const auto put = [&](const std::string& path, const std::string& answer) {
    fs::create_directories((dir / path).parent_path());
    std::ofstream(dir / path, std::ios::binary) << answer;
  };
  const auto json = [](const std::string& body) {
    return "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  put("api/models/acme/t/revision/main", json("{\"sha\": \"" + kCommit + "\"}"));
  put("api/models/acme/t/tree/" + kCommit + "?recursive=true",
      json("[{\"type\": \"file\", \"path\": \"config.json\", \"size\": " + std::to_string(kContent.size()) +
           ", \"oid\": \"" + git_oid() + "\"}]"));
  put("acme/t/resolve/" + kCommit + "/config.json",
      "HTTP/1.0 302 Found\r\nLocation: " + plain.url() + "/x\r\nX-Repo-Commit: " + kCommit +
          "\r\nX-Linked-Etag: \"" + git_oid() + "\"\r\nContent-Length: 0\r\n\r\n");
  Child server(
      "/bin/sh",
      {"-c",
       "cd \"$0\" && exec openssl s_server -HTTP -accept 127.0.0.1:0 -key key.pem -cert certificate.pem",
       dir.path().string()});
  std::string port;
  for (int i = 0; i < 200 && port.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string out = server.out_so_far();
    if (const std::size_t at = out.find("ACCEPT 127.0.0.1:");
        at != out.npos && out.find('\n', at) != out.npos)
      port = out.substr(at + 17, out.find('\n', at) - at - 17);
  }
  REQUIRE_FALSE(port.empty());
  const Ended ended = run("hfcache", {"download", "acme/t"},
                          {{"HF_ENDPOINT", "https://127.0.0.1:" + port},
                           {"HF_TOKEN", std::string(kToken)},
                           {"SSL_CERT_FILE", certificate},
                           {"HF_HOME", (dir / "home").string()},
                           {"HF_DEBUG", "1"}});
  CAPTURE(ended.err);
  CHECK(ended.code == 5);
  CHECK(ended.err.find("from https to http") != std::string::npos);
  CHECK_FALSE(holds_token(ended.err + ended.out));
  const std::lock_guard lock(mutex);
  CHECK(asked.empty());
}

TEST_CASE("The token is in no argument, and no core would hold it") {
  const AllHosts hosts({"http://slow.example/x"});
  std::atomic<bool> looked{false}, asked{false};
  const HttpServer slow([&](const HttpRequest&, HttpReply& reply) {
    asked = true;
    while (!looked && reply.pause(5)) {
    }
  });
  const Download download(hosts);
  auto variables = download.variables;
  variables["http_proxy"] = slow.url();
  Child child("hfcache", download.words(), variables);
  const auto text_of = [&](const std::string& name) {
    std::ifstream file("/proc/" + std::to_string(child.id()) + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (int i = 0; i < 2000 && !asked; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(asked);
  const std::string words = text_of("cmdline");
  CHECK(words.find("download") != words.npos);
  CHECK_FALSE(holds_token(words));
  const std::string limits = text_of("limits");
  const std::size_t line = limits.find("Max core file size");
  REQUIRE(line != limits.npos);
  CHECK(limits.substr(line, 42).find(" 0 ") != limits.npos);
  child.send(SIGKILL);
  looked = true;
}
