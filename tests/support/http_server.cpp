#include "support/http_server.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"

namespace hf::test {
namespace {

constexpr std::size_t kMostConnections = 256;
constexpr std::size_t kMostHead = 64 << 10;
constexpr std::size_t kMostBody = 16 << 20;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Whether `fd` can be read (or written) before the server is told to stop.
bool is_ready(int fd, int stop, short events, int timeout_ms = -1) {
  pollfd fds[2] = {{fd, events, 0}, {stop, POLLIN, 0}};
  int got = 0;
  do got = poll(fds, 2, timeout_ms);
  while (got < 0 && errno == EINTR);
  return got > 0 && fds[1].revents == 0;
}

// Reads requests from one connection; what came too early stays in the buffer.
class Reader {
 public:
  Reader(int fd, int stop) : fd_(fd), stop_(stop) {}

  std::optional<HttpRequest> next() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
      if (buffer_.size() > kMostHead || !more()) return std::nullopt;
    HttpRequest request;
    if (!parse_head(buffer_.substr(0, end + 2), request)) return std::nullopt;
    buffer_.erase(0, end + 4);
    std::size_t length = 0;
    const std::string text = request.header("content-length");
    std::from_chars(text.data(), text.data() + text.size(), length);
    if (length > kMostBody) return std::nullopt;
    while (buffer_.size() < length)
      if (!more()) return std::nullopt;
    request.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return request;
  }

 private:
  bool more() {
    char chunk[16 << 10];
    if (!is_ready(fd_, stop_, POLLIN)) return false;
    const ssize_t got = recv(fd_, chunk, sizeof chunk, 0);
    if (got > 0) buffer_.append(chunk, static_cast<std::size_t>(got));
    return got > 0;
  }

  static bool parse_head(std::string_view head, HttpRequest& request) {
    const std::size_t first_end = head.find("\r\n");
    const std::string_view first = head.substr(0, first_end);
    const std::size_t space = first.find(' '), last = first.rfind(' ');
    if (space == first.npos || last <= space) return false;
    request.method = first.substr(0, space);
    request.target = first.substr(space + 1, last - space - 1);
    request.path = request.target.substr(0, request.target.find('?'));
    if (const std::size_t mark = request.target.find('?'); mark != std::string::npos)
      for (auto& [name, value] : parse_form(std::string_view(request.target).substr(mark + 1)))
        request.query[name] = value;
    for (std::size_t at = first_end + 2; at < head.size();) {
      const std::size_t end = std::min(head.find("\r\n", at), head.size());
      const std::string_view line = head.substr(at, end - at);
      at = end + 2;
      const std::size_t colon = line.find(':');
      if (colon == line.npos) return false;
      const std::size_t value = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
      request.headers[lower(std::string(line.substr(0, colon)))] = line.substr(value);
    }
    return true;
  }

  int fd_, stop_;
  std::string buffer_;
};

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 2, value, 16).ptr == &text[i + 1] + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_form(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::string_view pair = text.substr(at, end - at);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    pairs.emplace_back(percent_decoded(pair.substr(0, equals), true),
                       percent_decoded(pair.substr(std::min(equals + 1, pair.size())), true));
    at = end + 1;
  }
  return pairs;
}

std::string head_text(std::string_view version, int status, const HttpReply::Fields& fields) {
  std::string text = "HTTP/" + std::string(version) + " " + std::to_string(status) + " Test\r\n";
  for (const auto& [name, value] : fields) text += name + ": " + value + "\r\n";
  return text + "\r\n";
}

bool HttpReply::head(int status, const Fields& fields, std::uint64_t content_length) {
  Fields all = fields;
  all.emplace_back("Content-Length", std::to_string(content_length));
  return write(head_text("1.1", status, all));
}

bool HttpReply::send_now(std::string_view bytes) {
  while (!bytes.empty() && !broken_) {
    const ssize_t sent = is_ready(connection_, stop_, POLLOUT)
                             ? send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                             : -1;
    if (sent < 0 && (errno == EAGAIN || errno == EINTR) && is_ready(connection_, stop_, POLLOUT)) continue;
    if (sent <= 0)
      broken_ = true;
    else
      bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return !broken_;
}

bool HttpReply::write(std::string_view bytes) {
  if (bytes_per_second_ == 0) return send_now(bytes);
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t step = std::max<std::uint64_t>(bytes_per_second_ / 100, 1);
  for (std::size_t at = 0; at < bytes.size();) {
    if (!send_now(bytes.substr(at, step))) return false;
    at = std::min(at + step, bytes.size());
    const auto due = begin + std::chrono::microseconds(at * 1'000'000 / bytes_per_second_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
    if (left.count() > 0 && !pause(static_cast<unsigned>(left.count()))) return false;
  }
  return !broken_;
}

bool HttpReply::wait_until_gone() {
  char byte = 0;
  while (is_ready(connection_, stop_, POLLIN) && recv(connection_, &byte, 1, MSG_PEEK) > 0)
    if (!pause(20)) break;  // the next request waits already; the client is still there
  broken_ = true;
  return false;
}

bool HttpReply::pause(unsigned ms) const {
  pollfd fd{stop_, POLLIN, 0};
  return poll(&fd, 1, static_cast<int>(ms)) == 0;
}

void HttpReply::reset() {
  int waiting = 0;  // what the other side's kernel has not got yet would be lost with the connection
  for (int i = 0; i < 200 && ioctl(connection_, SIOCOUTQ, &waiting) == 0 && waiting > 0 && pause(1); ++i) {
  }
  const linger now{1, 0};
  setsockopt(connection_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  broken_ = true;
}

void HttpReply::refuse_for(unsigned ms) {
  refuses_ = ms;
  reset();
}

namespace {

struct Address {
  sockaddr_storage bytes{};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

Address address_of(const std::string& host, unsigned short port) {
  Address out;
  if (host.find(':') != std::string::npos) {
    auto& address = reinterpret_cast<sockaddr_in6&>(out.bytes);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    inet_pton(AF_INET6, host.c_str(), &address.sin6_addr);
    out.length = sizeof address;
  } else {
    auto& address = reinterpret_cast<sockaddr_in&>(out.bytes);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    out.length = sizeof address;
  }
  return out;
}

// A socket bound to the port; 0 becomes the number of a free one.
int bind_to(const std::string& host, unsigned short& port) {
  Address address = address_of(host, port);
  const int fd = socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, address.get(), address.length) != 0 || getsockname(fd, address.get(), &address.length) != 0) {
    const int code = errno;
    close(fd);
    throw system_error(host + ":" + std::to_string(port), code);
  }
  port = ntohs(address.get()->sa_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address.bytes).sin6_port
                                                    : reinterpret_cast<sockaddr_in&>(address.bytes).sin_port);
  return fd;
}

// Only a port that was asked for by its number stays the socket's while it does not listen.
int listen_on(const std::string& host, unsigned short& port) {
  const int found = port == 0 ? bind_to(host, port) : -1;
  const int fd = bind_to(host, port);
  if (found >= 0) close(found);
  if (listen(fd, 256) != 0) throw system_error(host + ":" + std::to_string(port), errno);
  return fd;
}

}  // namespace

struct HttpServer::State {
  Handler handler;
  HttpServerOptions options;
  int listener = -1, stop = -1, poke = -1;
  std::thread acceptor;
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t open = 0;

  void accept_all() {
    while (true) {
      pollfd fds[3] = {{listener, POLLIN, 0}, {stop, POLLIN, 0}, {poke, POLLIN, 0}};
      if (poll(fds, 3, -1) < 0) continue;
      if (fds[1].revents != 0) return;
      if (fds[2].revents != 0) {
        refuse();
        continue;
      }
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      std::unique_lock lock(mutex);
      ended.wait(lock, [&] { return open < kMostConnections; });
      ++open;
      lock.unlock();
      std::thread([this, fd] { serve(fd); }).detach();
    }
  }

  // Nobody listens for as many milliseconds as `poke` counts.
  void refuse() {
    std::uint64_t ms = 0;
    if (read(poke, &ms, sizeof ms) != sizeof ms) return;
    shutdown(listener, SHUT_RD);
    pollfd end{stop, POLLIN, 0};
    poll(&end, 1, static_cast<int>(ms));
    listen(listener, 256);
  }

  void serve(int fd) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    Reader reader(fd, stop);
    while (const auto request = reader.next()) {
      HttpReply reply(fd, stop, options.bytes_per_second);
      try {
        handler(*request, reply);
      } catch (
          const std::exception&) {  // a file that has gone meanwhile: the client sees a broken connection
        reply.reset();
      }
      if (const std::uint64_t ms = reply.refuses(); ms > 0 && ::write(poke, &ms, sizeof ms) < 0) break;
      if (reply.is_broken() || lower(request->header("connection")) == "close") break;
    }
    close(fd);
    const std::lock_guard lock(mutex);
    --open;
    ended.notify_all();
  }
};

HttpServer::HttpServer(Handler handler, HttpServerOptions options) : state_(std::make_unique<State>()) {
  state_->handler = std::move(handler);
  state_->options = std::move(options);
  state_->listener = listen_on(state_->options.address, state_->options.port);
  state_->stop = eventfd(0, EFD_CLOEXEC);
  state_->poke = eventfd(0, EFD_CLOEXEC);
  state_->acceptor = std::thread([this] { state_->accept_all(); });
}

HttpServer::~HttpServer() {
  const std::uint64_t one = 1;
  if (write(state_->stop, &one, sizeof one) < 0) return;  // cannot fail: the counter is far from full
  state_->acceptor.join();
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [&] { return state_->open == 0; });
  for (const int fd : {state_->listener, state_->stop, state_->poke}) close(fd);
}

std::string HttpServer::host() const {
  const std::string& address = state_->options.address;
  const bool is_six = address.find(':') != std::string::npos;
  return (is_six ? "[" + address + "]" : address) + ":" + std::to_string(state_->options.port);
}

}  // namespace hf::test
