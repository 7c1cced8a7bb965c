// An authority of our own and the certificates it gives out, for tests of TLS.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

namespace hf::test {

class Authority {
 public:
  explicit Authority(const std::string& name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  void save(const std::filesystem::path& file) const;  // its own certificate, PEM

  // A certificate and its key, PEM, in one file. `names` as OpenSSL spells them
  // ("DNS:localhost,IP:127.0.0.1"); valid from a day ago until `seconds_left` from now.
  void issue(const std::filesystem::path& file, const std::string& names, long seconds_left = 86400) const;

 private:
  struct Pair;
  std::unique_ptr<Pair> self_;
};

}  // namespace hf::test
