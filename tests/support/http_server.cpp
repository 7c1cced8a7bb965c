#include "support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
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

bool HttpReply::head(int status, const Fields& fields, std::uint64_t content_length) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Test\r\n";
  for (const auto& [name, value] : fields) text += name + ": " + value + "\r\n";
  return write(text + "Content-Length: " + std::to_string(content_length) + "\r\n\r\n");
}

bool HttpReply::write(std::string_view bytes) {
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
  const linger now{1, 0};
  setsockopt(connection_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  broken_ = true;
}

struct HttpServer::State {
  Handler handler;
  int listener = -1, stop = -1;
  unsigned short port = 0;
  std::thread acceptor;
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t open = 0;

  void accept_all() {
    while (is_ready(listener, stop, POLLIN)) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      std::unique_lock lock(mutex);
      ended.wait(lock, [&] { return open < kMostConnections; });
      ++open;
      lock.unlock();
      std::thread([this, fd] { serve(fd); }).detach();
    }
  }

  void serve(int fd) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    Reader reader(fd, stop);
    while (const auto request = reader.next()) {
      HttpReply reply(fd, stop);
      try {
        handler(*request, reply);
      } catch (
          const std::exception&) {  // a file that has gone meanwhile: the client sees a broken connection
        reply.reset();
      }
      if (reply.is_broken() || lower(request->header("connection")) == "close") break;
    }
    close(fd);
    const std::lock_guard lock(mutex);
    --open;
    ended.notify_all();
  }
};

HttpServer::HttpServer(Handler handler, unsigned short port) : state_(std::make_unique<State>()) {
  state_->handler = std::move(handler);
  state_->stop = eventfd(0, EFD_CLOEXEC);
  state_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(state_->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t length = sizeof address;
  if (bind(state_->listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(state_->listener, 256) != 0 ||
      getsockname(state_->listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const int code = errno;
    close(state_->listener);
    close(state_->stop);
    throw system_error("127.0.0.1:" + std::to_string(port), code);
  }
  state_->port = ntohs(address.sin_port);
  state_->acceptor = std::thread([this] { state_->accept_all(); });
}

HttpServer::~HttpServer() {
  const std::uint64_t one = 1;
  if (write(state_->stop, &one, sizeof one) < 0) return;  // cannot fail: the counter is far from full
  state_->acceptor.join();
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [&] { return state_->open == 0; });
  close(state_->listener);
  close(state_->stop);
}

std::string HttpServer::url() const { return "http://127.0.0.1:" + std::to_string(state_->port); }

}  // namespace hf::test
