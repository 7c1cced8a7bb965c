// How far a download is, on a terminal: a line for all of it, one for each large file that is under way, and
// what is waited for.
//
//   acme/large  3/5 files  1.2 GB of 4.1 GB  212.0 MB/s  0:13 left  [=======                 ]
//     model-00001-of-00002.safetensors  802.1 MB of 2.1 GB  [=========               ]
//     acme/large: the server asks to wait, 54 s more
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/mirror/download.h"
#include "tools/program/live_lines.h"

namespace hf::cache {

class DownloadDisplay : public DownloadEvents {
 public:
  using Clock = std::chrono::steady_clock;

  explicit DownloadDisplay(LiveLines& lines, std::function<Clock::time_point()> now = Clock::now)
      : lines_(lines), now_(std::move(now)) {}

  void asking(const std::string& label);  // the Hub, for the revision and its files
  void begin(const std::string& label, const DownloadPlan& plan);
  void end();   // leaves a line on what was done
  void tick();  // what is waited for counts down also where nothing happens
  void wait(std::chrono::milliseconds wait, std::string_view why);

  void file_started(const TreeFile& file, std::uint64_t resumed_bytes) override;
  void advanced(const TreeFile& file, std::uint64_t bytes) override;
  void file_restarted(const TreeFile& file, std::uint64_t lost_bytes, std::string_view why) override;
  void retrying(const TreeFile* file, std::chrono::milliseconds wait, std::string_view why) override;
  void file_done(const TreeFile& file, std::string_view sha256) override;
  void warned(std::string_view message) override;

  std::vector<LiveLine> frame(std::size_t rows) const;  // as it is drawn now

 private:
  struct Active {
    std::string path;
    std::uint64_t size = 0, done = 0;
  };
  struct Wait {
    Clock::time_point until;
    std::string subject, why;  // no subject: the repository
  };
  struct Sample {
    Clock::time_point time;
    std::uint64_t bytes;
  };

  LiveLine summary() const;
  double bytes_per_second() const;
  void changed();
  Active* find(const TreeFile& file);

  LiveLines& lines_;
  std::function<Clock::time_point()> now_;
  std::string label_;
  bool is_fetching_ = false;
  std::uint64_t bytes_ = 0, bytes_to_fetch_ = 0;
  std::size_t files_ = 0, files_to_fetch_ = 0;
  std::vector<Active> active_;  // large ones, the oldest first
  std::optional<Wait> wait_;
  std::deque<Sample> samples_;  // of the last seconds
  Clock::time_point started_{}, drawn_{};
};

}  // namespace hf::cache
