// A file that fits in memory: one request, its hashes taken from the very buffer that is written.
#pragma once
#include <string>

#include "cache/mirror/fetch.h"

namespace hf::cache {

class SmallFetch final : public Fetch, public Receiver {
 public:
  using Fetch::Fetch;
  ~SmallFetch() override;

  void begin(bool has_lock) override;
  std::size_t connections() const override { return 1; }

 private:
  void start(const Response& head) override;
  void write(std::span<const std::byte> bytes) override;
  void done(Response response, std::exception_ptr thrown) override;

  void ask();
  void judge(const Response& response);
  void check_whole();
  void again(const Response& response, const std::string& why);
  void wrong(const std::string& what);

  std::string bytes_;
  std::uint64_t before_ = 0;  // bytes of the answer that are here already
  std::size_t at_last_failure_ = 0;
  int wrong_ = 0;
  Client::Ticket ticket_ = 0;
};

}  // namespace hf::cache
