// A TCP proxy on loopback that makes the way to a server long, for measuring:
//
//   delaying_proxy --to PORT [--port P] [--rtt-ms N]
//
// What arrives is handed on after half of the round-trip time, in either direction and however much is under
// way; what a client sends first waits a whole one more, as for the handshake of TCP. Prints its address and
// serves until standard input closes. One thread that sleeps until something is due.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "tools/program/program.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPieceBytes = 64u << 10;
constexpr std::size_t kMostUnderWay = 8u
                                      << 20;  // a direction; more than that is not read before some has left

struct Piece {
  Clock::time_point due;
  std::vector<char> bytes;  // none: the end
  std::size_t sent = 0;
};

// What goes from one socket to another.
struct Direction {
  int from, to;
  Clock::time_point earliest;  // nothing is handed on before
  std::deque<Piece> pieces;
  std::size_t under_way = 0;
  bool ended = false;    // no more comes
  bool blocked = false;  // the receiver takes no more at present
  bool full = false;     // something may be unread
};

struct Pair {
  Pair(int client, int server, Clock::time_point earliest)
      : there{client, server, earliest, {}}, back{server, client, {}, {}} {}
  ~Pair() {
    close(there.from);
    close(there.to);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  Direction there, back;
  bool is_over = false;
};

int check(int result, const char* what) {
  if (result < 0) throw hf::system_error(what, errno);
  return result;
}

sockaddr_in loopback(unsigned short port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void prepare(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

class Proxy {
 public:
  Proxy(unsigned short port, unsigned short to, std::chrono::milliseconds round_trip)
      : to_(to), round_trip_(round_trip), epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll")) {
    listener_ = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address = loopback(port);
    check(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
    check(listen(listener_, 1024), "listen");
    watch(listener_, EPOLLIN);
    watch(STDIN_FILENO, EPOLLIN);
  }

  unsigned short port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    check(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    return ntohs(address.sin_port);
  }

  void run() {
    while (true) {
      epoll_event events[256];
      const int count = epoll_wait(epoll_, events, 256, wait_ms());
      if (count < 0 && errno != EINTR) throw hf::system_error("epoll", errno);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        char ignored[4096];
        if (fd == STDIN_FILENO && read(fd, ignored, sizeof ignored) <= 0) return;
        if (fd == listener_)
          accept_all();
        else if (const auto found = pairs_.find(fd); found != pairs_.end())
          serve(*found->second, fd, events[i].events);
      }
      hand_on_what_is_due();
    }
  }

 private:
  void watch(int fd, unsigned events) {
    epoll_event event{events, {.fd = fd}};
    check(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event), "epoll");
  }

  void accept_all() {
    while (true) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) return;
      const int server = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
      const sockaddr_in address = loopback(to_);
      const bool is_there = connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
      const auto pair = std::make_shared<Pair>(client, server, Clock::now() + round_trip_ * 3 / 2);
      if (!is_there) continue;  // the client sees a closed connection
      check(fcntl(server, F_SETFL, fcntl(server, F_GETFL) | O_NONBLOCK), "fcntl");
      for (const int fd : {client, server}) {
        prepare(fd);
        pairs_[fd] = pair;
        watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);  // edges: read until there is nothing left
      }
    }
  }

  void serve(Pair& pair, int fd, unsigned events) {
    Direction& out = fd == pair.there.to ? pair.there : pair.back;
    if ((events & EPOLLOUT) != 0) out.blocked = false;
    take(fd == pair.there.from ? pair.there : pair.back);
  }

  void take(Direction& way) {
    while (!way.ended) {
      way.full = way.under_way >= kMostUnderWay;
      if (way.full) return;
      Piece piece{std::max(Clock::now() + round_trip_ / 2, way.earliest), std::vector<char>(kPieceBytes)};
      const ssize_t count = recv(way.from, piece.bytes.data(), kPieceBytes, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      way.ended = count <= 0;
      piece.bytes.resize(way.ended ? 0 : static_cast<std::size_t>(count));
      way.under_way += piece.bytes.size();
      way.pieces.push_back(std::move(piece));
    }
  }

  // Sends what is due; true where all of the direction has been handed on.
  bool hand_on(Direction& way, Clock::time_point now) {
    while (!way.blocked && !way.pieces.empty() && way.pieces.front().due <= now) {
      Piece& piece = way.pieces.front();
      if (piece.bytes.empty()) {
        shutdown(way.to, SHUT_WR);
        way.pieces.pop_front();
        continue;
      }
      const ssize_t count =
          send(way.to, piece.bytes.data() + piece.sent, piece.bytes.size() - piece.sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
        way.pieces.clear();
        return way.ended = true;
      }
      way.blocked = count < 0;
      if (way.blocked) break;
      piece.sent += static_cast<std::size_t>(count);
      way.under_way -= static_cast<std::size_t>(count);
      if (piece.sent == piece.bytes.size()) way.pieces.pop_front();
    }
    if (way.full) take(way);
    return way.ended && way.pieces.empty();
  }

  void hand_on_what_is_due() {
    const Clock::time_point now = Clock::now();
    std::vector<int> over;
    for (const auto& [fd, pair] : pairs_) {
      if (fd != pair->there.from) continue;  // each pair once
      const bool there = hand_on(pair->there, now);
      const bool back = hand_on(pair->back, now);
      if (there && back) over.insert(over.end(), {pair->there.from, pair->there.to});
    }
    for (const int fd : over) pairs_.erase(fd);
  }

  // Until the next piece is due; without end where there is none.
  int wait_ms() const {
    Clock::time_point next = Clock::time_point::max();
    for (const auto& [fd, pair] : pairs_)
      for (const Direction* way : {&pair->there, &pair->back})
        if (!way->pieces.empty() && !way->blocked) next = std::min(next, way->pieces.front().due);
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
  }

  unsigned short to_;
  std::chrono::milliseconds round_trip_;
  int epoll_, listener_ = -1;
  std::map<int, std::shared_ptr<Pair>> pairs_;  // by either socket
};

int run(int argc, char** argv) {
  CLI::App app{"A TCP proxy on loopback that makes the way to a server long.", "delaying_proxy"};
  unsigned short port = 0, to = 0;
  int rtt_ms = 80;
  app.add_option("--to", to, "Port of the server on 127.0.0.1")->required();
  app.add_option("--port", port, "Port on 127.0.0.1; 0: a free one")->capture_default_str();
  app.add_option("--rtt-ms", rtt_ms, "Round-trip time that it adds")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : hf::exit_code(hf::ErrorKind::usage);
  }
  Proxy proxy(port, to, std::chrono::milliseconds(rtt_ms));
  hf::print_out("127.0.0.1:" + std::to_string(proxy.port()) + "\n");
  std::fflush(stdout);
  proxy.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return hf::run_program("delaying_proxy", [&] { return run(argc, argv); });
}
