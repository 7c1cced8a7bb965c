// The client against a server that nobody here wrote, over TLS and through proxies.
#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "cache/http/client.h"
#include "cache/loopback.h"
#include "support/certificates.h"
#include "support/child.h"
#include "support/connect_proxy.h"
#include "support/error_of.h"
#include "support/nginx.h"
#include "support/skip.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

constexpr std::size_t kFiles = 200;
const char* const kNoNginx = "nginx is not installed";

// A variable of this process for a scope. quick_options() sets no_proxy, so options are made before.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// Servers with the certificates of an authority of our own: HTTP/2, HTTP/1.1, an expired certificate, one of
// another host, TLS before 1.2, and none.
class Site {
 public:
  enum Server : std::size_t { http2, http1, expired, elsewhere, old_tls, plain, few_streams };

  Site() : authority_("hfkit test authority") {
    authority_.save(dir_ / "ca.pem");
    authority_.issue(dir_ / "good.pem", "DNS:localhost,IP:127.0.0.1");
    authority_.issue(dir_ / "expired.pem", "DNS:localhost,IP:127.0.0.1", -3600);
    authority_.issue(dir_ / "elsewhere.pem", "DNS:example.org");
    for (std::size_t i = 0; i < kFiles; ++i) put(dir_ / "www" / std::to_string(i), content(i));
    put(dir_ / "www/large", noise(2 << 20, 7));
    std::filesystem::permissions(dir_.path(), std::filesystem::perms(0755));
    nginx_ = std::make_unique<Nginx>(std::vector<std::string>{
        listening("ssl http2", "good") + "location /down { return 302 http://127.0.0.1:1/; }",
        listening("ssl", "good"), listening("ssl", "expired"), listening("ssl", "elsewhere"),
        listening("ssl", "good") + "ssl_protocols TLSv1 TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;",
        listening("", ""),
        listening("ssl http2", "good") +
            "http2_max_concurrent_streams 1; http2_chunk_size 1k; limit_rate 3k; "});
  }

  std::string url(Server server, const std::string& host = "127.0.0.1") const {
    return (server == plain ? "http://" : "https://") + host + ":" + std::to_string(nginx_->port(server));
  }
  std::filesystem::path ca() const { return dir_ / "ca.pem"; }
  ClientOptions options() const {
    ClientOptions options = quick_options();
    options.ca_file = ca();
    return options;
  }
  static std::string content(std::size_t i) { return noise(1000 + 37 * i, i); }

 private:
  std::string listening(const std::string& how, const std::string& certificate) const {
    const std::string pem = (dir_ / (certificate + ".pem")).string();
    return "listen 127.0.0.1:PORT " + how + "; root " + (dir_ / "www").string() +
           "; add_header X-Version $server_protocol; " +
           (certificate.empty() ? "" : "ssl_certificate " + pem + "; ssl_certificate_key " + pem + "; ");
  }

  TempDir dir_;
  Authority authority_;
  std::unique_ptr<Nginx> nginx_;
};

class Text : public Receiver {
 public:
  void start(const Response&) override {}
  void write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void done(Response ended, std::exception_ptr why) override {
    response = std::move(ended);
    is_done = true;
    failed = why != nullptr || !response.failure.empty() || !response.ok();
  }
  std::string text;
  Response response;
  bool is_done = false, failed = false;
};

std::vector<std::unique_ptr<Text>> fetch_all(Client& client, const std::string& url,
                                             std::size_t count = kFiles, std::size_t first = 0) {
  std::vector<std::unique_ptr<Text>> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(std::make_unique<Text>());
    client.start({.url = url + "/" + std::to_string(first + i)}, *texts.back());
  }
  client.run_until([&] {
    return std::all_of(texts.begin(), texts.end(), [](const auto& text) { return text->is_done; });
  });
  return texts;
}

Caught refused(const ClientOptions& options, const std::string& url) {
  return error_of([&] { Client(options).send({.url = url}); });
}

}  // namespace

TEST_CASE("HTTP/2 carries two hundred files on four connections at most") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  Client client(site.options());
  const auto texts = fetch_all(client, site.url(Site::http2));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE_FALSE(texts[i]->failed);
    REQUIRE(texts[i]->text == Site::content(i));
    REQUIRE(texts[i]->response.find("x-version") == "HTTP/2.0");
  }
  CHECK(client.statistics().connections <= 4);
  CHECK(client.window(site.url(Site::http2)) == 100);
}

TEST_CASE("A server without HTTP/2 gets connections of HTTP/1.1") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  Client client(site.options());
  for (const auto& text : fetch_all(client, site.url(Site::http1))) {
    REQUIRE_FALSE(text->failed);
    REQUIRE(text->response.find("x-version") == "HTTP/1.1");
  }
  CHECK(client.statistics().connections > 4);
  CHECK(client.statistics().connections <= 65);
}

TEST_CASE("Parts of a large file have connections of their own beside HTTP/2") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  Client client(site.options());
  std::vector<std::unique_ptr<Text>> parts;
  for (std::uint64_t i = 0; i < 4; ++i) {
    parts.push_back(std::make_unique<Text>());
    client.start({.url = site.url(Site::http2) + "/large",
                  .range = ByteRange{i << 19, ((i + 1) << 19) - 1},
                  .own_connection = true},
                 *parts.back());
  }
  client.run_until(
      [&] { return std::all_of(parts.begin(), parts.end(), [](const auto& p) { return p->is_done; }); });
  std::string whole;
  for (const auto& part : parts) {
    CHECK(part->response.status() == 206);
    CHECK(part->response.find("x-version") == "HTTP/1.1");
    whole += part->text;
  }
  CHECK(whole == noise(2 << 20, 7));
  CHECK(client.statistics().connections == 4);
}

TEST_CASE("Streams that a server lets wait are not stalled") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  ClientOptions options = site.options();
  options.stall_timeout = std::chrono::milliseconds(1300);
  Client client(options);
  // One finds out, then four at a time, a second each: the last wait for two seconds.
  for (const auto& text : fetch_all(client, site.url(Site::few_streams), 10, 120)) {
    CAPTURE(text->response.failure);
    CHECK_FALSE(text->failed);
  }
}

TEST_CASE("The rate is kept over HTTP/2 as well") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  ClientOptions options = site.options();
  options.bytes_per_second = 500'000;
  Client client(options);
  std::uint64_t bytes = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& text : fetch_all(client, site.url(Site::http2))) {
    CHECK_FALSE(text->failed);
    bytes += text->text.size();
  }
  const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(time > static_cast<double>(bytes) / 500'000 * 0.97 - 0.05);
  CHECK(time < static_cast<double>(bytes) / 500'000 * 1.1 + 0.2);
}

TEST_CASE("An authority nobody trusts is refused, and the variable to set is named") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  for (const Site::Server server : {Site::http1, Site::http2}) {
    const Caught caught = refused(quick_options(), site.url(server));
    CHECK(caught == ErrorKind::network);
    CHECK(caught.says("certificate"));
    CHECK(caught.says("SSL_CERT_FILE"));
  }
}

TEST_CASE("Certificates that are expired or another host's are refused") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  const Caught old = refused(site.options(), site.url(Site::expired));
  CHECK(old == ErrorKind::network);
  CHECK(old.says("expired"));
  CHECK_FALSE(old.says("SSL_CERT_FILE"));
  const Caught other = refused(site.options(), site.url(Site::elsewhere, "localhost"));
  CHECK(other == ErrorKind::network);
  CHECK(other.says("localhost"));
  CHECK_FALSE(other.says("SSL_CERT_FILE"));
}

TEST_CASE("TLS before 1.2 is not spoken") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  CHECK(refused(site.options(), site.url(Site::old_tls)) == ErrorKind::network);
}

TEST_CASE("A redirect from https to http is refused") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  const Caught caught = refused(site.options(), site.url(Site::http2) + "/down");
  CHECK(caught == ErrorKind::network);
  CHECK(caught.says("https to http"));
}

TEST_CASE("A file of certificates that is not there is named") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  ClientOptions options = quick_options();
  options.ca_file = "/nowhere/ca.pem";
  const Caught caught = refused(options, site.url(Site::http1));
  CHECK(caught == ErrorKind::network);
  CHECK(caught.says("/nowhere/ca.pem"));
  CHECK(caught.says("SSL_CERT_FILE"));
}

TEST_CASE("The program takes the authority from SSL_CERT_FILE and says so where it lacks one") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  const TempDir cache;
  std::map<std::string, std::string> variables = {{"HF_ENDPOINT", site.url(Site::http2)},
                                                  {"HF_HOME", cache.path().string()}};
  const Ended without = run("hfcache", {"download", "acme/tiny"}, variables);
  CHECK(without.code == 5);
  CHECK(without.err.find("SSL_CERT_FILE") != std::string::npos);
  variables["SSL_CERT_FILE"] = site.ca();
  const Ended with = run("hfcache", {"download", "acme/tiny"}, variables);
  CHECK(with.code == 3);  // the server is trusted now, and has no such repository
}

TEST_CASE("Through a proxy, with its password, and past it") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  const ClientOptions options = site.options();
  const Variable all("no_proxy", ""), upper("NO_PROXY", "");
  const ConnectProxy proxy("ada:s3cret");
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  {
    const Variable https("HTTPS_PROXY", "http://ada:s3cret@" + address);
    Client client(options);
    for (const auto& text : fetch_all(client, site.url(Site::http2, "localhost"), 20))
      CHECK_FALSE(text->failed);
    const auto heads = proxy.heads();
    REQUIRE(heads.size() >= 1);
    CHECK(heads.size() <= 4);
    CHECK(heads[0].starts_with("CONNECT localhost:"));
    CHECK(heads[0].find("hf_") == std::string::npos);
    const Variable past("no_proxy", "localhost");
    CHECK(Client(options).send({.url = site.url(Site::http2, "localhost") + "/1"}).ok());
    CHECK(proxy.heads().size() == heads.size());
  }
  {
    const Variable https("HTTPS_PROXY", "http://ada:wr0ng@" + address);
    const Caught caught = refused(options, site.url(Site::http1, "localhost"));
    CHECK(caught == ErrorKind::network);
    CHECK(caught.says("407"));
    CHECK_FALSE(caught.says("wr0ng"));
  }
}

TEST_CASE("A token does not reach the proxy of an encrypted connection") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  const ClientOptions options = site.options();
  const Variable all("no_proxy", ""), upper("NO_PROXY", "");
  const ConnectProxy proxy;
  const Variable https("https_proxy", "http://127.0.0.1:" + std::to_string(proxy.port()));
  Client client(options);
  CHECK(client.send({.url = site.url(Site::http1, "localhost") + "/1", .bearer = "hf_secret"}).ok());
  REQUIRE(proxy.heads().size() == 1);
  CHECK(proxy.heads()[0].find("hf_secret") == std::string::npos);
}

TEST_CASE("HTTP_PROXY in capitals is not heeded: a web server's scripts get it from strangers") {
  if (!Nginx::is_there()) return skip(kNoNginx);
  const Site site;
  const ClientOptions options = site.options();
  const Variable all("no_proxy", ""), upper("NO_PROXY", "");
  const ConnectProxy proxy;
  const Variable http("HTTP_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  CHECK(Client(options).send({.url = site.url(Site::plain) + "/1"}).ok());
  CHECK(proxy.heads().empty());
}

TEST_CASE("A proxy that cannot be is told without its password") {
  const ClientOptions options = quick_options();
  const Variable all("no_proxy", ""), upper("NO_PROXY", "");
  for (const char* malformed :
       {"http://ada:s3cret@host:99999", "gopher://ada:s3cret@host", "http://ada:s3cret@[::1"}) {
    CAPTURE(malformed);
    const Variable http("http_proxy", malformed);
    const Caught caught = refused(options, "http://127.0.0.1:1/");
    CHECK(caught == ErrorKind::network);
    CHECK(caught.says("proxy"));
    CHECK_FALSE(caught.says("s3cret"));
  }
}
