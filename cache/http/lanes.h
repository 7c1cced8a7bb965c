// Who may go next: exchanges queue by origin, and by whether they share a connection there.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/http/options.h"
#include "cache/http/window.h"

namespace hf::cache {

class Exchange;

struct Lane {
  Lane(Window limits, bool shares) : window(limits), shared(shares) {}

  Window window;
  bool shared;  // several exchanges on one connection, where the server can
  std::size_t in_flight = 0;
  std::deque<Exchange*> queue;
};

class Origin {
 public:
  Origin(std::string name, const ClientOptions& options);

  const std::string& name() const { return name_; }  // as origin_of() writes it
  Lane& lane(bool own_connection) { return own_connection || !shares_ ? single_ : shared_; }
  Lane& shared_lane() { return shared_; }
  // How many of `lane` may be under way. One, as long as nothing is known of the server.
  std::size_t limit(const Lane& lane) const;
  std::size_t window() const { return shares_ && is_known_ ? shared_.window.size() : single_.window.size(); }

  void forget(const Exchange& exchange);  // takes it out of its queue

  // The server answered on a lane that shares connections, over HTTP/2 or not.
  void saw_version(bool http2);
  // HTTP/2 itself failed; a server or a proxy that does so again and again is spoken to in HTTP/1.1.
  void saw_http2_failure();

 private:
  void stop_sharing();

  std::string name_;
  Lane single_, shared_;
  bool shares_, is_known_ = false;
  unsigned http2_failures_ = 0;
};

class Origins {
 public:
  explicit Origins(const ClientOptions& options) : options_(options) {}
  // Error{network} for what is no http or https URL.
  Origin& of(std::string_view url);
  const std::vector<std::unique_ptr<Origin>>& all() const { return origins_; }

 private:
  const ClientOptions& options_;
  std::vector<std::unique_ptr<Origin>> origins_;
  std::unordered_map<std::string, Origin*> by_front_;  // "scheme://authority" as it was spelled
};

}  // namespace hf::cache
