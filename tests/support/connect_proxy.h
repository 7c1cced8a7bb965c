// An HTTP proxy on loopback that tunnels (CONNECT), for tests.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hf::test {

class ConnectProxy {
 public:
  // `credentials`: "user:password" that it asks for; empty: open to all.
  explicit ConnectProxy(std::string credentials = "");
  ~ConnectProxy();
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;

  unsigned short port() const { return port_; }
  std::vector<std::string> heads() const;  // of all requests, as they came

 private:
  void accept_all();
  void serve(int client);

  std::string credentials_;
  int listener_ = -1, stop_ = -1;
  unsigned short port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  std::vector<std::thread> tunnels_;
  std::thread acceptor_;
};

}  // namespace hf::test
