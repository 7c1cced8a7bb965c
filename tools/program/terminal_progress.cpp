#include <chrono>
#include <mutex>
#include <string>

#include "tools/program/live_lines.h"
#include "tools/program/program.h"

namespace hf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);
constexpr std::size_t kLongestLabel = 60;

class TerminalProgress : public Progress {
 public:
  explicit TerminalProgress(bool coloured) : lines_(coloured) {}

  void begin(std::string_view label, std::uint64_t total) override {
    const std::lock_guard lock(mutex_);
    unit_.clear();
    if (const std::size_t open = label.rfind(" ["); label.ends_with(']') && open != std::string_view::npos) {
      unit_ = label.substr(open + 2, label.size() - open - 3);
      label = label.substr(0, open);
    }
    label_ = label.substr(0, kLongestLabel);
    total_ = total;
    done_ = 0;
    started_ = drawn_ = Clock::now();
    lines_.draw({line(started_)});
  }

  void advance(std::uint64_t amount) override {
    const std::lock_guard lock(mutex_);
    done_ += amount;
    const Clock::time_point now = Clock::now();
    if (now - drawn_ < kRedrawEvery) return;
    drawn_ = now;
    lines_.draw({line(now)});
  }

  void end() override {
    const std::lock_guard lock(mutex_);
    lines_.leave({line(Clock::now())});
  }

 private:
  std::string amount(std::uint64_t value) const {
    return unit_.empty() ? human_size(value) : std::to_string(value);
  }

  LiveLine line(Clock::time_point now) const {
    const double seconds = std::chrono::duration<double>(now - started_).count();
    const double speed = seconds > 0.2 ? static_cast<double>(done_) / seconds : 0;
    LiveLine line{label_ + "  " + amount(done_)};
    if (total_ > 0) line.text += " of " + amount(total_);
    if (!unit_.empty()) line.text += ' ' + unit_;
    if (speed > 0) line.text += "  " + amount(static_cast<std::uint64_t>(speed)) + "/s";
    if (speed > 0 && total_ > done_)
      line.text += "  " + clock_text(static_cast<double>(total_ - done_) / speed) + " left";
    if (total_ > 0) line.share = static_cast<double>(done_) / static_cast<double>(total_);
    return line;
  }

  std::mutex mutex_;
  LiveLines lines_;
  std::string label_, unit_;
  std::uint64_t total_ = 0, done_ = 0;
  Clock::time_point started_, drawn_;
};

}  // namespace

Progress& terminal_progress(bool quiet) {
  if (!shows_progress(quiet)) return no_progress();
  static TerminalProgress progress(shows_colour());
  return progress;
}

}  // namespace hf
