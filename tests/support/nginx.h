// nginx on loopback: a server that nobody here wrote.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace hf::test {

class Nginx {
 public:
  static bool is_there();

  // Starts it with a server block for each of `servers`; "PORT" in a block becomes a free port of its own.
  // Throws std::runtime_error with nginx's words when it does not come up.
  explicit Nginx(const std::vector<std::string>& servers);
  ~Nginx();
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

  unsigned short port(std::size_t server) const { return ports_.at(server); }

 private:
  TempDir dir_;
  std::vector<unsigned short> ports_;
  pid_t id_ = -1;
};

}  // namespace hf::test
