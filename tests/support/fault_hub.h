// A Hub on loopback over a folder of repositories, with faults to order and a log of what it was asked.
// Without faults, huggingface_hub and transformers take it for the real one.
#pragma once
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/fault.h"
#include "support/http_server.h"
#include "support/hub_repos.h"

namespace hf::test {

struct LoggedRequest {
  std::string method, target, authorization, range, user_agent;
  bool away = false;  // at the other origin
  int status = 0;
  std::uint64_t body_bytes = 0;                     // handed to the network
  std::map<std::string, std::string> headers = {};  // all, names in lower case
};

struct HubOptions {
  std::uint64_t seed = 0;
  std::uint64_t lfs_threshold = 10u << 20;
  std::size_t page_size = 1000;  // of a tree
  unsigned short port = 0;
  std::uint64_t bytes_per_second = 0;  // of each connection; 0: no limit
  unsigned delay_ms = 0;               // before each answer
  bool redirects = false;   // LFS files to the other origin, others to a relative address: as the Hub
  bool xet_hashes = false;  // of LFS files, in the tree
  std::function<void(const LoggedRequest&)> answered = {};  // told of each exchange, from any thread
};

class FaultHub {
 public:
  explicit FaultHub(std::filesystem::path root, HubOptions options = {});
  ~FaultHub();

  std::string url() const { return hub_->url(); }
  std::string other_origin() const { return storage_->url(); }

  void order(Fault fault);
  void cancel_faults();
  void gate(const std::string& repo_id, const std::string& token);  // opens with that token only
  void disable(const std::string& repo_id);
  void forget();  // reads the folder again

  std::string commit(const std::string& repo_id, const std::string& revision = "main");
  std::vector<LoggedRequest> log() const;
  std::uint64_t bytes_served(
      std::string_view target_part) const;  // of bodies, also while they are being served
  void clear_log();

 private:
  class Exchange;

  std::uint64_t draw();  // a random number
  bool is_disabled(const std::string& repo_id) const;
  std::string token_of_gate(const std::string& repo_id) const;  // empty: open to all
  const Fault* take_fault(const std::string& target, std::initializer_list<FaultKind> kinds);
  void answer(const HttpRequest& request, HttpReply& reply, bool away);
  std::string new_link(std::uint64_t bytes);  // a signature that is good for so many
  std::uint64_t spend_link(const std::string& signature, std::uint64_t bytes);  // how many of them it gives

  HubOptions options_;
  HubRepos repos_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Fault>> faults_;
  std::vector<std::unique_ptr<LoggedRequest>> log_, cleared_;
  std::map<std::string, std::string> gates_;
  std::map<std::string, std::uint64_t> links_;  // bytes left
  std::set<std::string> disabled_;
  std::unique_ptr<HttpServer> storage_, hub_;  // last: they use all of the above
};

}  // namespace hf::test
