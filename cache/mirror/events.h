// What a download tells while it runs.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "cache/hub/answers.h"

namespace hf::cache {

struct DownloadRequest;
struct DownloadPlan;

// All on the thread that called download(). Of a content that stands under several paths the bytes are told
// for the first one, file_done for each.
class DownloadEvents {
 public:
  virtual ~DownloadEvents() = default;
  virtual void planned(const DownloadRequest&, const DownloadPlan&) {}
  virtual void file_started(const TreeFile&, std::uint64_t /*resumed_bytes*/) {}
  virtual void advanced(const TreeFile&, std::uint64_t /*bytes*/) {}  // that arrived since the last call
  // The file begins anew: `lost_bytes` of those told before do not count.
  virtual void file_restarted(const TreeFile&, std::uint64_t /*lost_bytes*/, std::string_view /*why*/) {}
  // nullptr: a request of the API, or all of a server's.
  virtual void retrying(const TreeFile*, std::chrono::milliseconds /*wait*/, std::string_view /*why*/) {}
  virtual void file_done(const TreeFile&, std::string_view /*sha256*/) {}  // it survives a power cut
  virtual void warned(std::string_view /*message*/) {}
};

struct DownloadReport {
  std::filesystem::path path;      // to print
  std::uint64_t resolves = 0;      // requests to the Hub for a file, by commit
  std::uint64_t redirects = 0;     // hops of such
  std::uint64_t range_parts = 0;   // requests for a part, straight to where the file lies
  std::uint64_t re_resolves = 0;   // for an address that had expired
  std::uint64_t api_requests = 0;  // for the revision and its files, of the plan
  std::uint64_t bytes_fetched = 0, bytes_resumed = 0;
};

}  // namespace hf::cache
