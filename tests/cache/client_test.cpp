#include "cache/http/client.h"

#include <map>
#include <mutex>

#include "cache/http/url.h"
#include "cache/loopback.h"
#include "support/error_of.h"
#include "support/http_server.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

// Answers what a function says and keeps the last request.
class Server {
 public:
  explicit Server(HttpServer::Handler handler)
      : server_([this, handler](const HttpRequest& request, HttpReply& reply) {
          last_ = request;
          handler(request, reply);
        }) {}
  std::string url() const { return server_.url(); }
  const HttpRequest& last() const { return last_; }

 private:
  HttpRequest last_;
  HttpServer server_;
};

class Enough : public Receiver {
 public:
  void start(const Response&) override {}
  void write(std::span<const std::byte> bytes) override {
    got += bytes.size();
    if (got > 1'000'000) throw Error(ErrorKind::integrity, "enough");
  }
  void done(Response, std::exception_ptr why) override {
    is_done = true;
    thrown = std::move(why);
  }
  std::size_t got = 0;
  bool is_done = false;
  std::exception_ptr thrown;
};

}  // namespace

TEST_CASE("A request says who asks and wants plain bytes") {
  Server server([](const HttpRequest&, HttpReply& reply) {
    reply.head(200, {{"X-Answer", "yes"}}, 2);
    reply.write("ok");
  });
  ClientOptions options = quick_options();
  options.user_agent = "hfcache/9";
  Client client(options);
  const Response response =
      client.send({.url = server.url() + "/x?y=1", .bearer = "hf_t", .range = ByteRange{7}});
  CHECK(response.body == "ok");
  CHECK(response.find("x-answer") == "yes");
  CHECK(server.last().target == "/x?y=1");
  CHECK(server.last().header("user-agent") == "hfcache/9");
  CHECK(server.last().header("accept-encoding") == "identity");
  CHECK(server.last().header("authorization") == "Bearer hf_t");
  CHECK(server.last().header("range") == "bytes=7-");
}

TEST_CASE("Requests follow one another at once") {
  Server server([](const HttpRequest&, HttpReply& reply) { reply.head(200, {}, 0); });
  Client client(quick_options());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 40; ++i) client.send({.url = server.url()});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));  // 2 with a pause of 50 ms
}

TEST_CASE("HEAD has no body and POST has a form") {
  Server server([](const HttpRequest& request, HttpReply& reply) {
    reply.head(200, {}, 5);
    if (request.method != "HEAD") reply.write(request.body.substr(0, 5));
  });
  Client client(quick_options());
  CHECK(client.send({.url = server.url(), .method = Method::head}).body.empty());
  CHECK(server.last().method == "HEAD");
  CHECK(client.send({.url = server.url(), .method = Method::post, .form = "a=%2F"}).body == "a=%2F");
  CHECK(server.last().header("content-type") == "application/x-www-form-urlencoded");
}

TEST_CASE("What is asked again is asked as often as the policy says") {
  int asked = 0;
  Server server([&](const HttpRequest&, HttpReply& reply) {
    ++asked;
    reply.head(503, {}, 0);
  });
  Client client(quick_options());
  CHECK(client.send({.url = server.url()}).status() == 503);
  CHECK(asked == 4);
  asked = 0;
  Server refusing([&](const HttpRequest&, HttpReply& reply) {
    ++asked;
    reply.head(404, {}, 0);
  });
  CHECK(client.send({.url = refusing.url()}).status() == 404);
  CHECK(asked == 1);
}

TEST_CASE("Ten redirects and no more") {
  Server server([](const HttpRequest& request, HttpReply& reply) {
    const int n = std::stoi(request.target.substr(1));
    if (n == 0) return void(reply.head(200, {}, 0));
    reply.head(302, {{"Location", "/" + std::to_string(n - 1)}}, 0);
  });
  Client client(quick_options());
  const Response response = client.send({.url = server.url() + "/10"});
  CHECK(response.ok());
  CHECK(response.hops.size() == 11);
  CHECK(error_of([&] { client.send({.url = server.url() + "/11"}); }) == ErrorKind::network);
}

TEST_CASE("A POST that is redirected becomes a GET") {
  Server server([](const HttpRequest& request, HttpReply& reply) {
    if (request.target == "/a") return void(reply.head(303, {{"Location", "/b"}}, 0));
    reply.head(200, {}, 0);
  });
  Client client(quick_options());
  client.send({.url = server.url() + "/a", .method = Method::post, .form = "x=1"});
  CHECK(server.last().method == "GET");
  CHECK(server.last().body.empty());
}

TEST_CASE("Redirects to other schemes are refused") {
  for (const char* to : {"file:///etc/passwd", "ftp://127.0.0.1/"}) {
    Server server([&](const HttpRequest&, HttpReply& reply) { reply.head(302, {{"Location", to}}, 0); });
    Client client(quick_options());
    CHECK(error_of([&] { client.send({.url = server.url()}); }) == ErrorKind::network);
  }
}

TEST_CASE("A token goes to its own origin, whatever a redirect says") {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> away;  // target, authorization
  HttpServer other([&](const HttpRequest& request, HttpReply& reply) {
    const std::lock_guard lock(mutex);
    away.emplace_back(request.target, request.header("authorization"));
    reply.head(200, {}, 0);
  });
  std::string back_authorization, referer;
  HttpServer home([&](const HttpRequest& request, HttpReply& reply) {
    if (request.path == "/end") {
      const std::lock_guard lock(mutex);
      back_authorization = request.header("authorization");
      referer = request.header("referer");
      return void(reply.head(200, {}, 0));
    }
    reply.head(302, {{"Location", percent_decoded(request.target.substr(1))}}, 0);
  });
  const std::string host = other.url().substr(7), home_host = home.url().substr(7);
  Client client(quick_options());
  for (const std::string& location :
       {"http://" + host + "/a?x=1", "http://user:secret@" + host + "/b", "//" + host + "/c",
        "http://" + home_host + "@" + host + "/d", "http://" + home_host + "%40@" + host + "/e"}) {
    CAPTURE(location);
    CHECK(client.send({.url = home.url() + "/" + percent_encoded(location, false), .bearer = "hf_secret"})
              .ok());
  }
  CHECK(away.size() == 5);
  for (const auto& [target, authorization] : away) CHECK(authorization == "");
  CHECK(away.front().first == "/a?x=1");
  client.send({.url = home.url() + "/" + percent_encoded("/end?q=1", false), .bearer = "hf_secret"});
  CHECK(back_authorization == "Bearer hf_secret");
  CHECK(referer == "");
}

TEST_CASE("A range is asked for as it is meant") {
  std::mutex mutex;
  std::map<std::string, std::pair<std::string, std::string>> asked;
  HttpServer server([&](const HttpRequest& request, HttpReply& reply) {
    const std::lock_guard lock(mutex);
    asked[request.path] = {request.header("range"), request.header("if-range")};
    reply.head(206, {}, 0);
  });
  ClientOptions options = quick_options();
  options.most_connections = 1;  // one handle after the other: nothing of a request may stay for the next
  Client client(options);
  client.send({.url = server.url() + "/a", .range = ByteRange{5, 9}, .if_range = "\"e\""});
  client.send({.url = server.url() + "/b", .range = ByteRange{0}});
  client.send({.url = server.url() + "/c"});
  client.send({.url = server.url() + "/d", .range = ByteRange{7, 7}});
  CHECK(asked["/a"] == std::pair<std::string, std::string>("bytes=5-9", "\"e\""));
  CHECK(asked["/b"] == std::pair<std::string, std::string>("bytes=0-", ""));
  CHECK(asked["/c"] == std::pair<std::string, std::string>("", ""));
  CHECK(asked["/d"] == std::pair<std::string, std::string>("bytes=7-7", ""));
}

TEST_CASE("A body that never ends is ended by its receiver") {
  Server server([](const HttpRequest&, HttpReply& reply) {
    reply.head(200, {}, std::uint64_t{1} << 50);
    while (reply.write(std::string(64 << 10, 'x'))) {
    }
  });
  Client client(quick_options());
  Enough enough;
  client.start({.url = server.url()}, enough);
  client.run_until([&] { return enough.is_done; });
  REQUIRE(enough.thrown);
  CHECK(error_of([&] { std::rethrow_exception(enough.thrown); }) == ErrorKind::integrity);
  CHECK(error_of([&] { client.send({.url = server.url()}); }) == ErrorKind::integrity);
}

TEST_CASE("Headers that never end are refused") {
  Server server([](const HttpRequest&, HttpReply& reply) {
    reply.write("HTTP/1.1 200 OK\r\n");
    while (reply.write("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  Client client(quick_options());
  CHECK(error_of([&] { client.send({.url = server.url()}); }) == ErrorKind::network);
}

TEST_CASE("Of the body of a refusal only the front is kept") {
  Server server([](const HttpRequest&, HttpReply& reply) {
    reply.head(404, {}, std::uint64_t{1} << 40);
    while (reply.write(std::string(64 << 10, 'x'))) {
    }
  });
  Client client(quick_options());
  const Response response = client.send({.url = server.url()});
  CHECK(response.status() == 404);
  CHECK(response.body.size() == 64 << 10);
}

TEST_CASE("Something that does not speak HTTP is a network error") {
  Server server([](const HttpRequest&, HttpReply& reply) {
    reply.write("SSH-2.0-OpenSSH_9.2\r\n");
    reply.reset();
  });
  Client client(quick_options());
  CHECK(error_of([&] { client.send({.url = server.url()}); }) == ErrorKind::network);
}

TEST_CASE("Nobody listens") {
  std::string url;
  {
    const Server server([](const HttpRequest&, HttpReply&) {});
    url = server.url();
  }
  Client client(quick_options());
  const Caught caught = error_of([&] { client.send({.url = url}); });
  CHECK(caught == ErrorKind::network);
  CHECK(caught.says(url));
}

TEST_CASE("Options come from Hugging Face's and OpenSSL's variables") {
  const ClientOptions plain = client_options(Environment(Environment::Values{}));
  CHECK(plain.connect_timeout == std::chrono::seconds(10));
  CHECK(plain.ca_file.empty());
  const ClientOptions options =
      client_options(Environment(Environment::Values{{"HF_HUB_ETAG_TIMEOUT", "3"},
                                                     {"HF_HUB_DOWNLOAD_TIMEOUT", "4"},
                                                     {"SSL_CERT_FILE", "/a.pem"},
                                                     {"REQUESTS_CA_BUNDLE", "/b.pem"},
                                                     {"SSL_CERT_DIR", "/certs"}}));
  CHECK(options.connect_timeout == std::chrono::seconds(3));
  CHECK(options.stall_timeout == std::chrono::seconds(4));
  CHECK(options.ca_file == "/b.pem");
  CHECK(options.ca_folder == "/certs");
  CHECK(client_options(Environment(Environment::Values{{"REQUESTS_CA_BUNDLE", "/tmp"}})).ca_folder == "/tmp");
}

TEST_CASE("A wait that is told is told on") {
  int asked = 0;
  HttpServer server([&](const HttpRequest&, HttpReply& reply) {
    if (++asked == 1) return void(reply.head(429, {{"Retry-After", "1"}}, 0));
    reply.head(200, {}, 0);
  });
  ClientOptions options = quick_options();
  std::vector<std::string> told;
  options.on_wait = [&](std::string_view subject, std::chrono::milliseconds wait, std::string_view why) {
    told.push_back(std::string(subject) + "|" + std::string(why));
    CHECK(wait >= std::chrono::milliseconds(1000));
    CHECK(wait < std::chrono::milliseconds(1100));
  };
  Client client(options);
  CHECK(client.send({.url = server.url() + "/x?signature=1"}).ok());
  CHECK(told == std::vector<std::string>{server.url() + "/x|HTTP 429"});
}
