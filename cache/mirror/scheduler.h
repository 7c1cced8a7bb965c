// Which content is fetched when: many small files at a time, few large ones, none that another process
// fetches already.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/mirror/events.h"
#include "cache/mirror/fetch.h"
#include "cache/mirror/job.h"

namespace hf::cache {

class Scheduler final : private FetchSite {
 public:
  Scheduler(const Hub& hub, Target& target, const DownloadRequest& request, const DownloadPlan& plan,
            DownloadEvents& events, DownloadReport& report);
  ~Scheduler() override;

  // Returns when all is fetched, named and on the disk. Of several failures the Error is of the first one's
  // kind and names all; what is right is kept then too.
  void run();

 private:
  struct Progress {
    std::unique_ptr<Fetch> fetch = {};
    std::optional<FileLock> lock = {};
    std::optional<Error> failure = {};
    bool again = false;  // its verified file was lost on the way to its name
  };

  // Another process holds its lock.
  struct Busy {
    std::size_t job;
    std::chrono::steady_clock::time_point since;  // it showed no progress
    std::uint64_t seen = 0;                       // of its partial files
  };

  // FetchSite
  void verified(Fetch& fetch, VerifiedFile file) override;
  void failed(Fetch& fetch, const Error& error) override;
  bool has_spare_connection() const override;

  void pump();
  void forget_waiting();
  std::size_t limit();
  std::size_t connections() const;
  bool is_large(std::size_t job) const;
  std::optional<std::size_t> next_job();
  void start(std::size_t job);
  void begin(std::size_t job);
  void end_fetch(std::size_t job);
  void look_at_busy();
  void look_at_busy_later();
  std::uint64_t holder_progress(const TreeFile& file) const;

  void add_to_batch(VerifiedFile file);
  void flush_batch();
  void named(std::vector<VerifiedFile> files);
  void fail(std::size_t job, const Error& error);
  void fail_named(const VerifiedFile& file);
  void throw_failures() const;

  const Hub& hub_;
  Target& target_;
  const DownloadRequest& request_;
  const DownloadPlan& plan_;
  DownloadEvents& events_;
  DownloadReport& report_;
  const std::vector<Job> jobs_;
  const std::string file_url_;  // any of the repository's: for the origin
  std::vector<Progress> progress_;
  std::deque<std::size_t> small_, large_;  // waiting
  std::deque<Busy> busy_;
  std::vector<std::size_t> active_;
  std::size_t active_large_ = 0, unfinished_ = 0;
  std::uint64_t small_bytes_ = 0;  // in memory
  std::vector<VerifiedFile> batch_;
  std::uint64_t batch_bytes_ = 0;
  std::optional<Error> link_failure_;
  std::size_t limit_ = 1;
  std::chrono::steady_clock::time_point limit_of_;  // when it was asked for; first of all: long ago
  bool stopped_ = false, batch_timer_ = false, busy_timer_ = false;

  Leftovers leftovers_;
  OriginPauses pauses_;
  int parts_folder_ = -1;
  HashPool pool_;
  std::optional<FetchContext> context_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::optional<Publisher> publisher_;
};

}  // namespace hf::cache
