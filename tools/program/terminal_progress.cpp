#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "base/environment.h"
#include "base/escape.h"
#include "tools/program/program.h"

namespace hf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);
constexpr std::size_t kWidestBar = 24;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::min(seconds, 359999.0));
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

class TerminalProgress : public Progress {
 public:
  explicit TerminalProgress(bool coloured) : coloured_(coloured) {}

  void begin(std::string_view label, std::uint64_t total) override {
    const std::lock_guard lock(mutex_);
    unit_.clear();
    if (const std::size_t open = label.rfind(" ["); label.ends_with(']') && open != std::string_view::npos) {
      unit_ = label.substr(open + 2, label.size() - open - 3);
      label = label.substr(0, open);
    }
    label_ = escaped(label, 60);
    total_ = total;
    done_ = 0;
    started_ = drawn_ = Clock::now();
    draw(started_);
  }

  void advance(std::uint64_t amount) override {
    const std::lock_guard lock(mutex_);
    done_ += amount;
    const Clock::time_point now = Clock::now();
    if (now - drawn_ >= kRedrawEvery) draw(now);
  }

  void end() override {
    const std::lock_guard lock(mutex_);
    draw(Clock::now());
    std::fputc('\n', stderr);
  }

 private:
  std::string amount(std::uint64_t value) const {
    return unit_.empty() ? human_size(value) : std::to_string(value);
  }

  // At most `room` columns with its brackets; nothing where that is too narrow or the total is unknown.
  std::string bar(std::size_t room) const {
    const std::size_t inside = std::min(kWidestBar, room - std::min<std::size_t>(room, 2));
    if (total_ == 0 || inside < 6) return "";
    const auto full = static_cast<std::size_t>(static_cast<double>(inside) * static_cast<double>(done_) /
                                               static_cast<double>(total_));
    const std::string done(std::min(full, inside), '='), rest(inside - done.size(), ' ');
    return coloured_ ? "[\033[32m" + done + "\033[0m" + rest + "]" : "[" + done + rest + "]";
  }

  void draw(Clock::time_point now) {
    drawn_ = now;
    const double seconds = std::chrono::duration<double>(now - started_).count();
    const double speed = seconds > 0.2 ? static_cast<double>(done_) / seconds : 0;
    std::string text = label_ + "  " + amount(done_);
    if (total_ > 0) text += " of " + amount(total_);
    if (!unit_.empty()) text += ' ' + unit_;
    if (speed > 0) text += "  " + amount(static_cast<std::uint64_t>(speed)) + "/s";
    if (speed > 0 && total_ > done_)
      text += "  " + clock_text(static_cast<double>(total_ - done_) / speed) + " left";
    const std::size_t room = terminal_width() - 1;
    if (text.size() > room) text.resize(room);
    const std::string drawn = bar(room - std::min(room, text.size() + 2));
    std::fprintf(stderr, "\r%s%s%s\033[K", text.c_str(), drawn.empty() ? "" : "  ", drawn.c_str());
    std::fflush(stderr);
  }

  const bool coloured_;
  std::mutex mutex_;
  std::string label_, unit_;
  std::uint64_t total_ = 0, done_ = 0;
  Clock::time_point started_, drawn_;
};

}  // namespace

Progress& terminal_progress(bool quiet) {
  const Environment environment = Environment::of_process();
  if (quiet || isatty(STDERR_FILENO) == 0 || environment.get("TERM") == "dumb" ||
      environment.is_on("HF_HUB_DISABLE_PROGRESS_BARS"))
    return no_progress();
  static TerminalProgress progress(!environment.get("NO_COLOR"));
  return progress;
}

}  // namespace hf
