#include "support/connect_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <stdexcept>
#include <string_view>

#include "support/loopback_address.h"

namespace hf::test {
namespace {

constexpr std::size_t kMostHead = 64 << 10;

std::string base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > text.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63u];
  }
  return out;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Hands bytes to and fro until one side ends or the proxy does.
void tunnel(int client, int server, int stop) {
  while (true) {
    pollfd fds[3] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {stop, POLLIN, 0}};
    if (poll(fds, 3, -1) < 0 || fds[2].revents != 0) return;
    for (int side = 0; side < 2; ++side) {
      if (fds[side].revents == 0) continue;
      char buffer[16 << 10];
      const ssize_t got = recv(fds[side].fd, buffer, sizeof buffer, 0);
      if (got <= 0 || !send_all(fds[1 - side].fd, {buffer, static_cast<std::size_t>(got)})) return;
    }
  }
}

// The port of "CONNECT host:port HTTP/1.1"; every host is this machine.
unsigned short port_in(std::string_view head) {
  const std::size_t end = head.find(" HTTP/"), colon = head.rfind(':', end);
  unsigned short port = 0;
  if (head.starts_with("CONNECT ") && end != head.npos && colon != head.npos)
    std::from_chars(head.data() + colon + 1, head.data() + end, port);
  return port;
}

}  // namespace

ConnectProxy::ConnectProxy(std::string credentials) : credentials_(std::move(credentials)) {
  stop_ = eventfd(0, EFD_CLOEXEC);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no port for a proxy");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

ConnectProxy::~ConnectProxy() {
  const std::uint64_t one = 1;
  if (write(stop_, &one, sizeof one) < 0) return;  // cannot fail: the counter is far from full
  acceptor_.join();
  for (std::thread& tunnel : tunnels_) tunnel.join();
  close(listener_);
  close(stop_);
}

std::vector<std::string> ConnectProxy::heads() const {
  const std::lock_guard lock(mutex_);
  return heads_;
}

void ConnectProxy::accept_all() {
  while (true) {
    pollfd fds[2] = {{listener_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 || fds[1].revents != 0) return;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) tunnels_.emplace_back([this, client] { serve(client); });
  }
}

void ConnectProxy::serve(int client) {
  std::string head;
  char byte = 0;
  pollfd fds[2] = {{client, POLLIN, 0}, {stop_, POLLIN, 0}};
  while (head.size() < kMostHead && !head.ends_with("\r\n\r\n") && poll(fds, 2, -1) > 0 &&
         fds[1].revents == 0 && recv(client, &byte, 1, 0) == 1)
    head += byte;
  {
    const std::lock_guard lock(mutex_);
    heads_.push_back(head);
  }
  const bool allowed = credentials_.empty() ||
                       head.find("Proxy-Authorization: Basic " + base64(credentials_)) != std::string::npos;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port_in(head));
  if (!allowed)
    send_all(client, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  else if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    send_all(client, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
  else if (send_all(client, "HTTP/1.1 200 Connection established\r\n\r\n"))
    tunnel(client, server, stop_);
  close(server);
  close(client);
}

}  // namespace hf::test
