#include "cache/http/engine.h"

#include <atomic>
#include <thread>

#include "base/progress.h"
#include "cache/loopback.h"
#include "support/error_of.h"
#include "support/http_server.h"
#include "support/in_child.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;
using std::chrono::milliseconds;

namespace {

using Clock = std::chrono::steady_clock;

// Counts what it is told, and does what a test wants when it is told.
class Recorder : public Receiver {
 public:
  void start(const Response& head) override {
    ++starts;
    status_at_start = head.status();
    if (on_start) on_start();
  }
  void write(std::span<const std::byte> part) override {
    bytes += part.size();
    if (on_write) on_write();
  }
  void done(Response ended, std::exception_ptr why) override {
    ++dones;
    response = std::move(ended);
    thrown = std::move(why);
    if (on_done) on_done();
  }
  Caught error() const {
    return error_of([&] {
      if (thrown) std::rethrow_exception(thrown);
    });
  }

  int starts = 0, dones = 0, status_at_start = 0;
  std::uint64_t bytes = 0;
  Response response;
  std::exception_ptr thrown;
  std::function<void()> on_start, on_write, on_done;
};

// Answers each GET with `body`, after `delay`, and counts how many wait at a time.
class Plain {
 public:
  explicit Plain(std::string body, unsigned delay_ms = 0)
      : server_([this, body, delay_ms](const HttpRequest&, HttpReply& reply) {
          const int now = ++waiting_;
          int most = most_.load();
          while (now > most && !most_.compare_exchange_weak(most, now)) {
          }
          if (delay_ms > 0) reply.pause(delay_ms);
          --waiting_;
          reply.head(200, {}, body.size());
          reply.write(body);
        }) {}
  std::string url() const { return server_.url(); }
  int most() const { return most_; }

 private:
  std::atomic<int> waiting_{0}, most_{0};
  HttpServer server_;
};

void run_all(Client& client, const std::vector<std::unique_ptr<Recorder>>& recorders) {
  client.run_until([&] {
    return std::all_of(recorders.begin(), recorders.end(), [](const auto& r) { return r->dones > 0; });
  });
}

std::vector<std::unique_ptr<Recorder>> start_many(Client& client, const std::string& url, std::size_t count) {
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (std::size_t i = 0; i < count; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    client.start({.url = url + "/" + std::to_string(i)}, *recorders.back());
  }
  return recorders;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

TEST_CASE("Many exchanges on one thread, over few connections") {
  const Plain server("hello");
  Client client(quick_options());
  const auto recorders = start_many(client, server.url(), 300);
  run_all(client, recorders);
  for (const auto& recorder : recorders) {
    REQUIRE(recorder->starts == 1);
    REQUIRE(recorder->dones == 1);
    REQUIRE(recorder->bytes == 5);
    REQUIRE(recorder->response.status() == 200);
  }
  CHECK(client.statistics().requests == 300);
  CHECK(client.statistics().bytes == 1500);
  CHECK(client.statistics().connections >= 8);
  CHECK(client.statistics().connections <= 64);
}

TEST_CASE("Never more connections than allowed") {
  const Plain server("hello", 5);
  ClientOptions options = quick_options();
  options.most_connections = 3;
  Client client(options);
  run_all(client, start_many(client, server.url(), 30));
  CHECK(client.statistics().connections == 3);
  CHECK(server.most() == 3);
}

TEST_CASE("A slow server gets more exchanges at a time, up to 64") {
  const Plain server("hello", 40);
  Client client(quick_options());
  CHECK(client.window(server.url()) == 8);
  const double time = seconds_of([&] { run_all(client, start_many(client, server.url(), 300)); });
  CHECK(client.window(server.url()) == 64);
  CHECK(server.most() <= 64);
  CHECK(time < 1.5);  // one after the other: 12 s
}

TEST_CASE("A server that says it is too much is asked for less") {
  HttpServer server([](const HttpRequest&, HttpReply& reply) { reply.head(429, {}, 0); });
  Client client(quick_options());
  run_all(client, start_many(client, server.url(), 20));
  CHECK(client.window(server.url()) < 8);
}

TEST_CASE("An answer without bytes starts and is done") {
  const Plain server("");
  Client client(quick_options());
  Recorder get, head;
  client.start({.url = server.url()}, get);
  client.start({.url = server.url(), .method = Method::head}, head);
  client.run_until([&] { return get.dones + head.dones == 2; });
  CHECK(get.starts == 1);
  CHECK(head.starts == 1);
  CHECK(get.status_at_start == 200);
}

TEST_CASE("A refusal is no start, and its body is kept") {
  HttpServer server([](const HttpRequest&, HttpReply& reply) {
    reply.head(404, {}, 4);
    reply.write("gone");
  });
  Client client(quick_options());
  Recorder recorder;
  client.start({.url = server.url()}, recorder);
  client.run_until([&] { return recorder.dones > 0; });
  CHECK(recorder.starts == 0);
  CHECK(recorder.response.status() == 404);
  CHECK(recorder.response.body == "gone");
}

TEST_CASE("What a receiver throws reaches its done") {
  const Plain server(std::string(100'000, 'x'));
  Client client(quick_options());
  Recorder at_start, at_write;
  at_start.on_start = [] { throw Error(ErrorKind::integrity, "start"); };
  at_write.on_write = [] { throw Error(ErrorKind::io, "write"); };
  client.start({.url = server.url()}, at_start);
  client.start({.url = server.url()}, at_write);
  client.run_until([&] { return at_start.dones + at_write.dones == 2; });
  CHECK(at_start.error() == ErrorKind::integrity);
  CHECK(at_write.error() == ErrorKind::io);
  CHECK(at_write.dones == 1);
}

TEST_CASE("The loop cannot be run from within itself") {
  const Plain server("hello");
  Client client(quick_options());
  Recorder recorder;
  recorder.on_write = [&] { client.send({.url = server.url()}); };
  client.start({.url = server.url()}, recorder);
  client.run_until([&] { return recorder.dones > 0; });
  CHECK(recorder.error() == ErrorKind::internal);
  Recorder outside;
  Response nested;
  outside.on_done = [&] { nested = client.send({.url = server.url()}); };
  client.start({.url = server.url()}, outside);
  client.run_until([&] { return outside.dones > 0; });
  CHECK(nested.body == "hello");
}

TEST_CASE("A URL that is none is told to done") {
  Client client(quick_options());
  for (const char* url : {"", "nothing", "ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/"}) {
    CAPTURE(url);
    Recorder recorder;
    client.start({.url = url}, recorder);
    client.run_until([&] { return recorder.dones > 0; });
    CHECK(recorder.error() == ErrorKind::network);
  }
}

TEST_CASE("Exchanges start and end others from within") {
  const Plain server(std::string(50'000, 'x'));
  Client client(quick_options());
  Recorder first, second, third;
  Client::Ticket victim = 0;
  second.on_done = [&] { FAIL("was cancelled"); };
  first.on_start = [&] {
    victim = client.start({.url = server.url()}, second);
    client.start({.url = server.url()}, third);
  };
  first.on_write = [&] { client.cancel(victim); };
  client.start({.url = server.url()}, first);
  client.run_until([&] { return first.dones + third.dones == 2; });
  CHECK(third.bytes == 50'000);
  CHECK(second.dones == 0);
}

TEST_CASE("An exchange that cancels itself is told nothing more") {
  const Plain server(std::string(500'000, 'x'));
  Client client(quick_options());
  Recorder recorder, other;
  const Client::Ticket ticket = client.start({.url = server.url()}, recorder);
  recorder.on_write = [&] { client.cancel(ticket); };
  client.start({.url = server.url()}, other);
  client.run_until([&] { return other.dones > 0; });
  client.after(milliseconds(50), [] {});
  const auto until = Clock::now() + milliseconds(50);
  client.run_until([&] { return Clock::now() >= until; });
  CHECK(recorder.dones == 0);
  CHECK(recorder.bytes <= 65536);
  client.cancel(ticket);  // a second time, and of one that is long gone
}

TEST_CASE("What waits for its turn can be cancelled") {
  const Plain server("x", 20);
  ClientOptions options = quick_options();
  options.most_connections = 1;
  Client client(options);
  Recorder first, second, third;
  client.start({.url = server.url()}, first);
  const Client::Ticket waiting = client.start({.url = server.url()}, second);
  client.start({.url = server.url()}, third);
  client.cancel(waiting);
  client.run_until([&] { return third.dones > 0; });
  CHECK(first.dones == 1);
  CHECK(second.starts + second.dones == 0);
  CHECK(client.statistics().requests == 2);
}

TEST_CASE("A client that ends takes its exchanges along in silence") {
  const Plain server("x", 200);
  Recorder recorder;
  {
    Client client(quick_options());
    client.start({.url = server.url()}, recorder);
    const auto until = Clock::now() + milliseconds(30);
    client.run_until([&] { return Clock::now() >= until; });
  }
  CHECK(recorder.dones == 0);
}

TEST_CASE("Work of other threads and timers run in the loop") {
  Client client(quick_options());
  const auto here = std::this_thread::get_id();
  int ran = 0;
  bool late = false;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) client.post([&] { ran += std::this_thread::get_id() == here ? 1 : -1000; });
  });
  client.run_until([&] { return ran == 100; });
  other.join();
  const double time = seconds_of([&] {
    client.after(milliseconds(30), [&] { late = true; });
    client.run_until([&] { return late; });
  });
  CHECK(time >= 0.029);
  CHECK(time < 0.3);
  CHECK_THROWS_AS(client.post([] { throw Error(ErrorKind::io, "x"); });
                  client.run_until([] { return false; }), Error);
}

TEST_CASE("Silence ends an exchange, and only that one") {
  HttpServer server([](const HttpRequest& request, HttpReply& reply) {
    reply.head(200, {}, 1000);
    reply.write("front");
    for (int i = 0; request.path == "/slow" && i < 19; ++i) {
      reply.pause(50);
      reply.write(std::string(i == 18 ? 995 - 18 * 50 : 50, 'x'));
    }
    if (request.path == "/dead") reply.wait_until_gone();
  });
  ClientOptions options = quick_options();
  options.stall_timeout = milliseconds(400);
  Client client(options);
  Recorder dead, slow;
  client.start({.url = server.url() + "/dead"}, dead);
  client.start({.url = server.url() + "/slow"}, slow);
  client.run_until([&] { return dead.dones + slow.dones == 2; });
  CHECK(dead.response.failure == "no byte for 400 ms");
  CHECK(dead.bytes == 5);
  CHECK(slow.response.failure.empty());
  CHECK(slow.bytes == 1000);
}

TEST_CASE("A receiver that takes its time is no silence of the server's") {
  const Plain server(std::string(300'000, 'x'));
  ClientOptions options = quick_options();
  options.stall_timeout = milliseconds(300);
  Client client(options);
  Recorder slow, other;
  int writes = 0;
  slow.on_write = [&] {
    if (++writes <= 3) std::this_thread::sleep_for(milliseconds(350));
  };
  client.start({.url = server.url()}, slow);
  client.start({.url = server.url()}, other);
  client.run_until([&] { return slow.dones + other.dones == 2; });
  CHECK(slow.response.failure.empty());
  CHECK(other.response.failure.empty());
}

TEST_CASE("All bodies together keep to the rate, which is no stall") {
  const Plain server(std::string(500'000, 'x'));
  ClientOptions options = quick_options();
  options.bytes_per_second = 1'000'000;
  options.stall_timeout = milliseconds(300);
  Client client(options);
  const double time = seconds_of([&] {
    const auto recorders = start_many(client, server.url(), 4);
    run_all(client, recorders);
    for (const auto& recorder : recorders) CHECK(recorder->response.failure.empty());
  });
  CHECK(time > 2 * 0.97);
  CHECK(time < 2 * 1.15);  // a busy machine is late at both ends
}

TEST_CASE("The user's wish to stop ends the loop at once") {
  const auto stop = [] {
    HttpServer server([](const HttpRequest&, HttpReply& reply) { reply.wait_until_gone(); });
    Client client(quick_options());
    Recorder recorder;
    client.start({.url = server.url()}, recorder);
    client.after(milliseconds(20), [] { request_interrupt(); });
    const double time = seconds_of([&] {
      const Caught caught = error_of([&] { client.run_until([] { return false; }); });
      if (!(caught == ErrorKind::interrupted)) _exit(1);
    });
    return time < 0.5 && recorder.dones == 0 ? 0 : 2;
  };
  CHECK(in_child(stop) == 0);
}

TEST_CASE("Parts of a large file keep their connections for the next parts") {
  const Plain server(std::string(100'000, 'x'));
  Client client(quick_options());
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Recorder>> recorders;
    for (int i = 0; i < 4; ++i) {
      recorders.push_back(std::make_unique<Recorder>());
      client.start({.url = server.url(), .own_connection = true}, *recorders.back());
    }
    run_all(client, recorders);
  }
  CHECK(client.statistics().connections == 4);
}
