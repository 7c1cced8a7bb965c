#include "tools/hfcache/download_display.h"

#include <algorithm>

#include "tools/program/program.h"

namespace hf::cache {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100), kSampleEvery = std::chrono::milliseconds(250);
constexpr auto kSpeedOver = std::chrono::seconds(5);
constexpr std::uint64_t kLargeBytes = 1 << 20;
constexpr std::size_t kMostFiles = 8;

double seconds(DownloadDisplay::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

double share(std::uint64_t done, std::uint64_t all) {
  return all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
}

}  // namespace

void DownloadDisplay::asking(const std::string& label) {
  label_ = label;
  is_fetching_ = false;
  wait_.reset();
  lines_.draw(frame(LiveLines::rows()));
}

void DownloadDisplay::begin(const std::string& label, const DownloadPlan& plan) {
  label_ = label;
  is_fetching_ = true;
  bytes_ = 0;
  files_ = 0;
  bytes_to_fetch_ = plan.bytes_to_fetch();
  files_to_fetch_ = 0;
  for (const PlannedFile& planned : plan.files) files_to_fetch_ += planned.state != FileState::present;
  active_.clear();
  wait_.reset();
  samples_.clear();
  started_ = now_();
  drawn_ = {};
  changed();
}

void DownloadDisplay::end() {
  if (!is_fetching_ || files_to_fetch_ == 0) return lines_.clear();
  const double took = seconds(now_() - started_);
  std::string text =
      label_ + "  " + std::to_string(files_) + " files  " + human_size(bytes_) + " in " + clock_text(took);
  if (took > 0.2)
    text += "  " + human_size(static_cast<std::uint64_t>(static_cast<double>(bytes_) / took)) + "/s";
  lines_.leave({{text}});
  is_fetching_ = false;
}

void DownloadDisplay::tick() {
  if (wait_ && wait_->until <= now_()) wait_.reset();
  changed();
}

void DownloadDisplay::wait(std::chrono::milliseconds wait, std::string_view why) {
  retrying(nullptr, wait, why);
}

void DownloadDisplay::file_started(const TreeFile& file, std::uint64_t resumed_bytes) {
  if (file.size >= kLargeBytes && find(file) == nullptr)
    active_.push_back({file.path, file.size, resumed_bytes});
  changed();
}

void DownloadDisplay::advanced(const TreeFile& file, std::uint64_t bytes) {
  bytes_ += bytes;
  if (Active* active = find(file)) active->done += bytes;
  changed();
}

void DownloadDisplay::file_restarted(const TreeFile& file, std::uint64_t lost_bytes, std::string_view) {
  bytes_ -= std::min(bytes_, lost_bytes);
  if (Active* active = find(file)) active->done -= std::min(active->done, lost_bytes);
  changed();
}

// Of several waits the longest is shown.
void DownloadDisplay::retrying(const TreeFile* file, std::chrono::milliseconds wait, std::string_view why) {
  const Clock::time_point until = now_() + wait;
  if (!wait_ || wait_->until < until) wait_ = {until, file == nullptr ? "" : file->path, std::string(why)};
  changed();
}

void DownloadDisplay::file_done(const TreeFile& file, std::string_view) {
  ++files_;
  std::erase_if(active_, [&](const Active& active) { return active.path == file.path; });
  changed();
}

void DownloadDisplay::warned(std::string_view message) {
  lines_.leave({{"warning: " + std::string(message)}});
  drawn_ = {};
  changed();
}

DownloadDisplay::Active* DownloadDisplay::find(const TreeFile& file) {
  if (file.size < kLargeBytes) return nullptr;
  const auto found =
      std::find_if(active_.begin(), active_.end(), [&](const Active& a) { return a.path == file.path; });
  return found == active_.end() ? nullptr : &*found;
}

double DownloadDisplay::bytes_per_second() const {
  const Sample from = samples_.empty() ? Sample{started_, 0} : samples_.front();
  const double passed = seconds(now_() - from.time);
  return passed < 0.2 || bytes_ < from.bytes ? 0 : static_cast<double>(bytes_ - from.bytes) / passed;
}

void DownloadDisplay::changed() {
  const Clock::time_point now = now_();
  if (now - drawn_ < kRedrawEvery) return;
  drawn_ = now;
  if (samples_.empty() || now - samples_.back().time >= kSampleEvery) samples_.push_back({now, bytes_});
  while (samples_.size() > 1 && now - samples_.front().time > kSpeedOver) samples_.pop_front();
  lines_.draw(frame(LiveLines::rows()));
}

LiveLine DownloadDisplay::summary() const {
  if (!is_fetching_) return {label_ + "  asking for the list of files"};
  LiveLine line{label_ + "  " + std::to_string(files_) + "/" + std::to_string(files_to_fetch_) + " files  " +
                    human_size(bytes_) + " of " + human_size(bytes_to_fetch_),
                share(bytes_, bytes_to_fetch_)};
  const double speed = bytes_per_second();
  if (speed >= 1) {
    line.text += "  " + human_size(static_cast<std::uint64_t>(speed)) + "/s";
    if (bytes_ < bytes_to_fetch_)
      line.text += "  " + clock_text(static_cast<double>(bytes_to_fetch_ - bytes_) / speed) + " left";
  }
  return line;
}

std::vector<LiveLine> DownloadDisplay::frame(std::size_t rows) const {
  std::vector<LiveLine> lines = {summary()};
  const std::size_t room = rows > 4 ? std::min(kMostFiles, rows - 4) : 0;
  for (std::size_t i = 0; i < std::min(room, active_.size()); ++i)
    lines.push_back(
        {"  " + active_[i].path + "  " + human_size(active_[i].done) + " of " + human_size(active_[i].size),
         share(active_[i].done, active_[i].size)});
  if (wait_) {
    const double left = std::max(0.0, seconds(wait_->until - now_()));
    const std::string time = std::to_string(static_cast<long>(left + 0.999)) + " s";
    const std::string& subject = wait_->subject.empty() ? label_ : wait_->subject;
    std::string_view why = wait_->why;
    if (why.starts_with(subject + ": ")) why.remove_prefix(subject.size() + 2);
    std::string text = "  " + subject + ": ";
    if (why.find("HTTP 429") != std::string_view::npos)
      text += "the server asks to wait, " + time + " more";
    else
      text += std::string(why) + ", again in " + time;
    lines.push_back({std::move(text)});
  }
  return lines;
}

}  // namespace hf::cache
