#include "tools/hfcache/download_run.h"

#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "tools/hfcache/json_events.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

constexpr auto kTick = std::chrono::milliseconds(200);

// Each event to all that listen.
class Told : public DownloadEvents {
 public:
  void add(DownloadEvents* listener) {
    if (listener != nullptr) all_.push_back(listener);
  }
  void file_started(const TreeFile& file, std::uint64_t resumed_bytes) override {
    for (auto* one : all_) one->file_started(file, resumed_bytes);
  }
  void advanced(const TreeFile& file, std::uint64_t bytes) override {
    for (auto* one : all_) one->advanced(file, bytes);
  }
  void file_restarted(const TreeFile& file, std::uint64_t lost_bytes, std::string_view why) override {
    for (auto* one : all_) one->file_restarted(file, lost_bytes, why);
  }
  void retrying(const TreeFile* file, std::chrono::milliseconds wait, std::string_view why) override {
    for (auto* one : all_) one->retrying(file, wait, why);
  }
  void file_done(const TreeFile& file, std::string_view sha256) override {
    for (auto* one : all_) one->file_done(file, sha256);
  }
  void warned(std::string_view message) override {
    for (auto* one : all_) one->warned(message);
  }

 private:
  std::vector<DownloadEvents*> all_;
};

// Warnings where nobody else tells them.
class Notes : public DownloadEvents {
 public:
  void warned(std::string_view message) override {
    std::fprintf(stderr, "warning: %.*s\n", static_cast<int>(message.size()), message.data());
  }
};

std::string action_of(const PlannedFile& planned) {
  if (planned.state == FileState::present) return "is there";
  if (planned.state == FileState::in_blobs) return "link";
  if (planned.resumable_bytes == 0) return "fetch";
  return "fetch from " + human_size(planned.resumable_bytes) + " on";
}

std::string total_line(std::size_t files, std::uint64_t total, std::uint64_t to_fetch) {
  return std::to_string(files) + " files, " + human_size(total) + ", of which " + human_size(to_fetch) +
         " to fetch\n";
}

constexpr auto kRight = Column::Align::right;

void print_plan(const DownloadPlan& plan) {
  std::vector<std::vector<std::string>> rows;
  for (const PlannedFile& planned : plan.files)
    rows.push_back({planned.file.path, human_size(planned.file.size), action_of(planned)});
  print_out(format_table({{"FILE"}, {"SIZE", kRight}, {"ACTION"}}, rows));
  print_out(total_line(plan.files.size(), plan.total_bytes(), plan.bytes_to_fetch()));
}

void print_plans(const std::vector<DownloadJob>& jobs) {
  std::vector<std::vector<std::string>> rows;
  std::size_t files = 0;
  std::uint64_t total = 0, to_fetch = 0;
  for (const auto& [where, request, plan] : jobs) {
    rows.push_back({request.repo.id, std::string(name_of(request.repo.type)), request.revision,
                    std::to_string(plan.files.size()), human_size(plan.total_bytes()),
                    human_size(plan.bytes_to_fetch())});
    files += plan.files.size();
    total += plan.total_bytes();
    to_fetch += plan.bytes_to_fetch();
  }
  print_out(format_table(
      {{"REPO_ID"}, {"TYPE"}, {"REVISION"}, {"FILES", kRight}, {"SIZE", kRight}, {"TO FETCH", kRight}},
      rows));
  print_out(total_line(files, total, to_fetch));
}

}  // namespace

bool Failures::collect(const DownloadJob& job, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    errors_.emplace_back(error.kind(), (job.where.empty() ? "" : job.where + ": ") + error.what());
    return false;
  }
}

void Failures::raise(const char* note) const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw errors_[0];
  std::string message =
      std::to_string(errors_.size()) + " of " + std::to_string(all_) + " repositories failed" + note;
  for (const Error& error : errors_) message += std::string("\n  ") + error.what();
  throw Error(errors_[0].kind(), message);
}

DownloadRun::DownloadRun(ClientOptions options, const Store& store, std::vector<DownloadJob> jobs,
                         DownloadOutput output)
    : store_(store), jobs_(std::move(jobs)), output_(output) {
  if (shows_progress(output.quiet)) display_.emplace(lines_.emplace(shows_colour()));
  options.on_wait = [this](std::string_view, std::chrono::milliseconds wait, std::string_view why) {
    if (display_) display_->wait(wait, why);
    if (output_.json && current_ != nullptr) tell_wait(current_->request, wait, why);
  };
  client_ = std::make_unique<Client>(std::move(options));
  if (display_) keep_ticking();
}

DownloadRun::~DownloadRun() = default;

void DownloadRun::keep_ticking() {
  client_->after(kTick, [this] {
    display_->tick();
    keep_ticking();
  });
}

std::string DownloadRun::label(const DownloadJob& job) const {
  const std::size_t number = static_cast<std::size_t>(&job - jobs_.data()) + 1;
  return jobs_.size() == 1
             ? job.request.repo.id
             : std::to_string(number) + "/" + std::to_string(jobs_.size()) + "  " + job.request.repo.id;
}

void DownloadRun::plan(const std::string& endpoint, const std::string& token) {
  hub_ = std::make_unique<Hub>(*client_, endpoint, token);
  hub_->on_warning([this](std::string_view text) {
    if (display_)
      display_->warned(text);
    else if (!output_.quiet)
      Notes().warned(text);
  });
  Failures failures(jobs_);
  for (DownloadJob& job : jobs_) {
    current_ = &job;
    if (display_) display_->asking(label(job));
    failures.collect(job, [&] {
      job.plan = plan_download(*hub_, store_, job.request);
      if (output_.json) tell_plan(job.request, job.plan);
    });
  }
  current_ = nullptr;
  if (lines_) lines_->clear();
  failures.raise(", nothing was fetched");
}

void DownloadRun::show_plans() const {
  if (output_.json) return;  // was told as each was made
  if (jobs_.size() == 1)
    print_plan(jobs_[0].plan);
  else
    print_plans(jobs_);
}

void DownloadRun::fetch() {
  Failures failures(jobs_);
  for (DownloadJob& job : jobs_) {
    current_ = &job;
    const bool done = failures.collect(job, [&] {
      try {
        fetch(job);
      } catch (const Error& error) {
        if (output_.json && jobs_.size() > 1 && error.kind() != ErrorKind::interrupted)
          tell_error(&job.request, error);
        throw;
      }
    });
    if (!done && lines_) lines_->clear();
  }
  current_ = nullptr;
  failures.raise();
}

void DownloadRun::fetch(DownloadJob& job) {
  Told events;
  Notes notes;
  JsonEvents json(job.request, job.plan);
  if (output_.json) events.add(&json);
  if (display_) {
    display_->begin(label(job), job.plan);
    events.add(&*display_);
  } else if (!output_.json && !output_.quiet) {
    events.add(&notes);
  }
  const auto target = make_target(store_, job.request, job.plan);
  const DownloadReport report = download(*hub_, *target, job.request, job.plan, events);
  if (display_) display_->end();
  tell(job, report);
}

void DownloadRun::tell(const DownloadJob& job, const DownloadReport& report) const {
  if (output_.json)
    tell_done(job.request, job.plan.commit, report);
  else
    print_out(report.path.string() + "\n");
  if (!output_.quiet && !output_.json && is_commit(job.request.revision) && !job.request.ref &&
      !job.request.local_dir)
    std::fprintf(stderr, "%s: is in the cache by its commit only, --ref NAME gives it a name as well\n",
                 escaped(job.request.repo.id).c_str());
}

}  // namespace hf::cache
