// A Hub on loopback over a folder of repositories, with faults to order and a log of what it was asked.
// Without faults, huggingface_hub and transformers take it for the real one.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/http_server.h"
#include "support/hub_repos.h"

namespace hf::test {

enum class FaultKind {
  drop,           // the connection breaks after `at` bytes of the body
  stall,          // nothing more comes after `at` bytes of the body
  slow,           // `at` bytes a second
  status,         // answers `status` with `header`
  short_file,     // the file ends `at` bytes early, and the headers agree
  long_file,      // `at` bytes too many, and the headers agree
  wrong_content,  // one byte of the file is another (which one: by the seed)
  wrong_etag,     // of the right shape
  wrong_range,    // 206, but of other bytes than those asked for
  ignored_range,  // 200 and the whole file
  redirect_loop,  // to itself
  redirect_away,  // to another origin, which has the file; as the Hub does for LFS
  expired_link,   // the same, but the other origin answers 403
  redirect_here,  // to a relative address with a query, as the Hub does for small files
  cut_json,       // half of the answer
  other_size,     // the tree says that files have `at` bytes
};

struct Fault {
  FaultKind kind;
  std::string target = {};  // a part of the target of the requests that it happens to; empty: all
  int times = 1;            // how many of them; -1: each
  std::uint64_t at = 0;
  int status = 500;
  std::string header = {};  // "Name: value"
};

struct LoggedRequest {
  std::string method, target, authorization, range, user_agent;
  bool away = false;  // at the other origin
  int status = 0;
  std::uint64_t body_bytes = 0;  // handed to the network
};

struct HubOptions {
  std::uint64_t seed = 0;
  std::uint64_t lfs_threshold = 10u << 20;
  std::size_t page_size = 1000;  // of a tree
  unsigned short port = 0;
  std::function<void(const HttpRequest&, bool away)> watch = {};  // before each answer; by several threads
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
  friend class Exchange;

  std::uint64_t draw();  // a random number
  bool is_disabled(const std::string& repo_id) const;
  std::string token_of_gate(const std::string& repo_id) const;  // empty: open to all
  const Fault* take_fault(const std::string& target, std::initializer_list<FaultKind> kinds);
  void answer(const HttpRequest& request, HttpReply& reply, bool away);

  HubOptions options_;
  HubRepos repos_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Fault>> faults_;
  std::vector<std::unique_ptr<LoggedRequest>> log_, cleared_;
  std::map<std::string, std::string> gates_;
  std::set<std::string> disabled_;
  std::unique_ptr<HttpServer> storage_, hub_;  // last: they use all of the above
};

}  // namespace hf::test
