// One content on its way from the Hub to a verified partial file, whatever the network does.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/http/backoff.h"
#include "cache/hub/hub.h"
#include "cache/mirror/events.h"
#include "cache/mirror/hash_pool.h"
#include "cache/mirror/leftovers.h"
#include "cache/mirror/publisher.h"
#include "cache/mirror/timings.h"

namespace hf::cache {

class Fetch;

// What the fetches of a download share, and whom they tell.
class FetchSite {
 public:
  virtual ~FetchSite() = default;

  // The last word of a fetch, never from within begin().
  virtual void verified(Fetch& fetch, VerifiedFile file) = 0;
  virtual void failed(Fetch& fetch, const Error& error) = 0;
  // Whether a file may take one more connection than it has.
  virtual bool has_spare_connection() const = 0;
};

// Servers that asked to be left alone: 429 is said to all that an origin is asked.
class OriginPauses {
 public:
  void set(const std::string& url, std::chrono::milliseconds wait);
  std::chrono::milliseconds left(const std::string& url) const;

 private:
  std::map<std::string, std::chrono::steady_clock::time_point> until_;
};

struct FetchContext {
  const Hub& hub;
  const Repo& repo;
  const std::string& commit;
  std::filesystem::path parts;
  int parts_folder = -1;  // the same, opened
  std::uint64_t block_bytes = 0;
  const Timings& timings;
  const Leftovers& leftovers;
  HashPool& pool;
  OriginPauses& pauses;
  DownloadEvents& events;
  DownloadReport& report;
  FetchSite& site;
};

class Fetch {
 public:
  Fetch(FetchContext& context, std::size_t job, const TreeFile& file)
      : context_(context), job_(job), file_(file) {}
  virtual ~Fetch() = default;  // ends what is under way; what has come is kept for the next run
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  // `has_lock`: no other program that knows of locks writes a partial file of this content.
  virtual void begin(bool has_lock) = 0;
  virtual std::size_t connections() const = 0;
  virtual void use_spare_connections() {}

  std::size_t job() const { return job_; }
  const TreeFile& file() const { return file_; }

 protected:
  // How often a server may send something that is not the file.
  static constexpr int kMostWrongAnswers = 2;
  // Bytes of progress; fewer do not prove that the line works.
  static constexpr std::uint64_t kWorthANewTry = 64 << 10;

  // Runs `work` later on the loop, unless this is gone by then.
  void later(std::chrono::milliseconds wait, std::function<void()> work);
  // The last words to the site: on the loop's next step, since this may end with them.
  void finish_verified(VerifiedFile file);
  void finish_failed(const Error& error);
  // How long to wait before the next attempt after one that broke off, told and remembered; `progress`: since
  // the last such one there was some. Nothing when it is time to give up, and the failure was told.
  std::optional<std::chrono::milliseconds> wait_after(const Response& response, const std::string& why,
                                                      bool progress);
  std::string subject() const;
  void note_answer(const Response& response);  // its hops, and what the Hub warns of

  FetchContext& context_;
  const std::size_t job_;
  const TreeFile& file_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for work that outlives this

 private:
  std::optional<Backoff> backoff_;  // once something failed
};

}  // namespace hf::cache
