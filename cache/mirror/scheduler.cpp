#include "cache/mirror/scheduler.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/escape.h"
#include "base/progress.h"
#include "cache/mirror/large_fetch.h"
#include "cache/mirror/small_fetch.h"

namespace hf::cache {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMostLarge = 8;                 // large files at a time
constexpr std::uint64_t kMostSmallBytes = 16u << 20;  // of small files in memory
constexpr std::size_t kBatchFiles = 256;
constexpr std::uint64_t kBatchBytes = 64u << 20;
constexpr milliseconds kLimitHolds{2};
constexpr std::size_t kBusyLooks = 64;  // locks of other processes that are looked at in one go

int open_folder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw system_error(shown(folder), errno);
  return fd;
}

// A lock is moved into its place, never over another one.
void move_lock(std::optional<FileLock>& from, std::optional<FileLock>& to) {
  to.reset();
  if (from) to.emplace(std::move(*from));
  from.reset();
}

unsigned hash_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

}  // namespace

Scheduler::Scheduler(const Hub& hub, Target& target, const DownloadRequest& request, const DownloadPlan& plan,
                     DownloadEvents& events, DownloadReport& report)
    : hub_(hub),
      target_(target),
      request_(request),
      plan_(plan),
      events_(events),
      report_(report),
      jobs_(jobs_of(plan)),
      file_url_(hub.file_request(request.repo, plan.commit, "file", std::nullopt).url),
      progress_(jobs_.size()),
      unfinished_(jobs_.size()),
      leftovers_(find_leftovers(target.parts())),
      parts_folder_(open_folder(target.parts())),
      pool_(hash_threads()) {
  context_.emplace(FetchContext{hub_, request_.repo, plan_.commit, target_.parts(), parts_folder_,
                                request_.block_bytes, request_.timings, leftovers_, pool_, pauses_, events_,
                                report_, *this});
  for (std::size_t job = 0; job < jobs_.size(); ++job) (is_large(job) ? large_ : small_).push_back(job);
  publisher_.emplace(target_, [this, alive = std::weak_ptr(alive_)](std::vector<VerifiedFile> files) {
    auto shared = std::make_shared<std::vector<VerifiedFile>>(std::move(files));
    hub_.client().post([this, alive, shared] {
      if (alive.lock()) named(std::move(*shared));
    });
  });
}

// What is verified gets its names also when the user stopped the rest.
Scheduler::~Scheduler() {
  for (Progress& one : progress_) one.fetch.reset();
  flush_batch();
  publisher_.reset();
  alive_.reset();  // what it posted last finds nobody
  close(parts_folder_);
}

void Scheduler::run() {
  std::vector<VerifiedFile> linkable;
  for (const PlannedFile& planned : plan_.files)
    if (planned.state == FileState::in_blobs)
      linkable.push_back({.job = jobs_.size(), .links = {&planned.file}});
  unfinished_ += linkable.size();
  if (!linkable.empty()) publisher_->add(std::move(linkable));
  pump();
  hub_.client().run_until([this] { return unfinished_ == 0; });
  throw_failures();
}

bool Scheduler::is_large(std::size_t job) const { return jobs_[job].file().size >= request_.large_bytes; }

// What the server takes changes by the millisecond at most; finding its origin costs more than a small file's
// hash.
std::size_t Scheduler::limit() {
  const auto now = steady_clock::now();
  if (now - limit_of_ < kLimitHolds) return limit_;
  limit_of_ = now;
  const std::size_t most =
      request_.workers == 0 ? hub_.client().options().most_connections : request_.workers;
  limit_ = std::clamp<std::size_t>(hub_.client().window(file_url_), 1, std::max<std::size_t>(most, 1));
  return limit_;
}

std::size_t Scheduler::connections() const {
  std::size_t count = 0;
  for (const std::size_t job : active_) count += progress_[job].fetch->connections();
  return count;
}

bool Scheduler::has_spare_connection() const {
  const std::size_t most =
      request_.workers == 0 ? hub_.client().options().most_connections : request_.workers;
  const bool others_wait = !small_.empty() || (!large_.empty() && active_large_ < kMostLarge);
  return !others_wait && connections() < most;
}

// Starts what may be started.
void Scheduler::pump() {
  const std::size_t most = limit();
  while (!stopped_ && connections() < most) {
    const auto job = next_job();
    if (!job) break;
    start(*job);
  }
  if (stopped_) forget_waiting();
  if (small_.empty() && large_.empty())
    for (std::size_t i = 0; i < active_.size(); ++i) progress_[active_[i]].fetch->use_spare_connections();
  if (active_.empty() && small_.empty() && large_.empty()) flush_batch();
}

// What is under way goes on to its end.
void Scheduler::forget_waiting() {
  unfinished_ -= small_.size() + large_.size() + busy_.size();
  small_.clear();
  large_.clear();
  busy_.clear();
}

std::optional<std::size_t> Scheduler::next_job() {
  const bool large_may = !large_.empty() && active_large_ < kMostLarge;
  const bool small_may =
      !small_.empty() &&
      (small_bytes_ == 0 || small_bytes_ + jobs_[small_.front()].file().size <= kMostSmallBytes);
  if (!large_may && !small_may) return std::nullopt;
  // In list order: a large file must not wait for the end of a thousand small ones.
  std::deque<std::size_t>& queue =
      !small_may || (large_may && large_.front() < small_.front()) ? large_ : small_;
  const std::size_t job = queue.front();
  queue.pop_front();
  return job;
}

void Scheduler::start(std::size_t job) {
  std::optional<FileLock> lock;
  try {
    auto got = target_.try_lock(jobs_[job].file());
    move_lock(got, lock);
  } catch (const Error& error) {
    return fail(job, error);
  }
  if (lock) {
    move_lock(lock, progress_[job].lock);
    return begin(job);
  }
  busy_.push_back({job, steady_clock::now(), holder_progress(jobs_[job].file())});
  look_at_busy_later();
}

void Scheduler::begin(std::size_t job) {
  const TreeFile& file = jobs_[job].file();
  Progress& one = progress_[job];
  try {
    // Another process may have brought it since the plan was made.
    if (!request_.force && target_.state_of(file) != FileState::missing) {
      VerifiedFile found{.job = job, .part = {}, .links = {}, .sha256 = {}};
      return add_to_batch(std::move(found));
    }
    if (is_large(job)) {
      one.fetch = std::make_unique<LargeFetch>(*context_, job, file);
      ++active_large_;
    } else {
      one.fetch = std::make_unique<SmallFetch>(*context_, job, file);
      small_bytes_ += file.size;
    }
    active_.push_back(job);
    one.fetch->begin(one.lock.has_value());
  } catch (const Error& error) {
    end_fetch(job);
    fail(job, error);
  }
}

void Scheduler::end_fetch(std::size_t job) {
  if (!progress_[job].fetch) return;
  progress_[job].fetch.reset();
  active_.erase(std::find(active_.begin(), active_.end(), job));
  if (is_large(job))
    --active_large_;
  else
    small_bytes_ -= jobs_[job].file().size;
}

void Scheduler::verified(Fetch& fetch, VerifiedFile file) {
  end_fetch(fetch.job());
  add_to_batch(std::move(file));
  pump();
}

void Scheduler::failed(Fetch& fetch, const Error& error) {
  const std::size_t job = fetch.job();
  end_fetch(job);
  fail(job, error);
  pump();
}

void Scheduler::fail(std::size_t job, const Error& error) {
  // A wrong or absent file says nothing of the others; a network that is down or a full disk does.
  if (error.kind() != ErrorKind::integrity && error.kind() != ErrorKind::not_found) stopped_ = true;
  progress_[job].lock.reset();
  progress_[job].failure = error;
  --unfinished_;
}

void Scheduler::look_at_busy_later() {
  if (std::exchange(busy_timer_, true)) return;
  hub_.client().after(request_.timings.lock_poll, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.lock()) return;
    busy_timer_ = false;
    look_at_busy();
  });
}

void Scheduler::look_at_busy() {
  const auto now = steady_clock::now();
  for (std::size_t left = std::min(busy_.size(), kBusyLooks); left > 0 && connections() < limit(); --left) {
    Busy busy = busy_.front();
    busy_.pop_front();
    const TreeFile& file = jobs_[busy.job].file();
    try {
      auto lock = target_.try_lock(file);
      if (!lock) {
        if (const std::uint64_t seen = holder_progress(file); seen != busy.seen) {
          busy.seen = seen;
          busy.since = now;
        }
        // Nothing depends on the lock but work that would be done twice.
        if (now - busy.since < request_.timings.lock_patience) {
          busy_.push_back(busy);
          continue;
        }
        events_.warned(escaped(file.path) + ": another process holds its lock and makes no progress");
      }
      move_lock(lock, progress_[busy.job].lock);
      begin(busy.job);
    } catch (const Error& error) {
      fail(busy.job, error);
    }
  }
  if (!busy_.empty()) look_at_busy_later();
  pump();
}

// Changes while a process that holds the lock gets on: of the partial files, ours or huggingface_hub's, sizes
// and times.
std::uint64_t Scheduler::holder_progress(const TreeFile& file) const {
  if (file.size < request_.large_bytes) return 0;  // done at once, or never
  std::uint64_t seen = 0;
  const int fd = openat(parts_folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) {
    struct stat info {};
    if (!std::string_view(entry->d_name).starts_with(file.etag() + ".")) continue;
    if (fstatat(parts_folder_, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    seen += static_cast<std::uint64_t>(info.st_size) + static_cast<std::uint64_t>(info.st_blocks) +
            static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1000 +
            static_cast<std::uint64_t>(info.st_mtim.tv_nsec) / 1'000'000;
  }
  closedir(folder);
  return seen;
}

void Scheduler::add_to_batch(VerifiedFile file) {
  file.links = jobs_[file.job].links;
  move_lock(progress_[file.job].lock, file.lock);
  batch_bytes_ += jobs_[file.job].file().size;
  const bool now = file.large != nullptr;
  batch_.push_back(std::move(file));
  if (now || batch_.size() >= kBatchFiles || batch_bytes_ >= kBatchBytes) return flush_batch();
  if (std::exchange(batch_timer_, true)) return;
  hub_.client().after(request_.timings.batch, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.lock()) return;
    batch_timer_ = false;
    flush_batch();
  });
}

void Scheduler::flush_batch() {
  if (!batch_.empty()) publisher_->add(std::exchange(batch_, {}));
  batch_bytes_ = 0;
}

void Scheduler::named(std::vector<VerifiedFile> files) {
  for (VerifiedFile& file : files) {
    if (!file.failure) {
      for (const TreeFile* link : file.links) events_.file_done(*link, file.sha256);
      --unfinished_;
      continue;
    }
    if (!file.large && !file.part.empty()) unlink(file.part.c_str());  // a large one is gone on with
    const bool lost = file.failure->kind() == ErrorKind::not_found && file.job < jobs_.size();
    if (lost && !std::exchange(progress_[file.job].again, true))
      (is_large(file.job) ? large_ : small_).push_back(file.job);  // another process took it for left behind
    else
      fail_named(file);
  }
  pump();
}

void Scheduler::fail_named(const VerifiedFile& file) {
  if (file.job < jobs_.size()) return fail(file.job, *file.failure);
  if (!link_failure_) link_failure_ = file.failure;
  stopped_ = true;
  --unfinished_;
}

void Scheduler::throw_failures() const {
  std::vector<const Error*> failures;
  for (const Progress& one : progress_)
    if (one.failure) failures.push_back(&*one.failure);
  if (failures.empty() && link_failure_) failures.push_back(&*link_failure_);
  if (failures.empty()) return;
  std::string message = failures[0]->what();
  if (failures.size() > 1) {
    message = std::to_string(failures.size()) + " files failed";
    for (const Error* failure : failures) message += std::string("\n  ") + failure->what();
  }
  throw Error(failures[0]->kind(), message);
}

}  // namespace hf::cache
