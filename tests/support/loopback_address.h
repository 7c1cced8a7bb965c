// 127.0.0.1 as the system calls take it.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>

namespace hf::test {

inline sockaddr_in loopback(unsigned short port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace hf::test
