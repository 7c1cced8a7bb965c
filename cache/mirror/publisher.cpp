#include "cache/mirror/publisher.h"

#include <exception>
#include <utility>

namespace hf::cache {

Publisher::Publisher(Target& target, std::function<void(Files)> done)
    : target_(target), done_(std::move(done)), thread_([this] { work(); }) {}

Publisher::~Publisher() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ready_.notify_one();
  thread_.join();
}

void Publisher::add(Files files) {
  {
    const std::lock_guard lock(mutex_);
    for (VerifiedFile& file : files) waiting_.push_back(std::move(file));
  }
  ready_.notify_one();
}

// A flush makes the bytes of the files handed over durable and the names given before it: while there is
// always more to do, one flush serves a batch twice.
void Publisher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (named_.empty()) ready_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (named_.empty() && waiting_.empty()) return;
    Files fresh = std::exchange(waiting_, {});
    lock.unlock();
    flush(fresh);
    lock.lock();
  }
}

void Publisher::flush(Files& fresh) {
  std::optional<Error> failure;
  try {
    for (const VerifiedFile& file : fresh)
      if (file.large) file.large->sync();  // tells of a failed write that syncfs of older kernels keeps quiet
    target_.sync();
  } catch (const Error& error) {
    failure = error;
  }
  if (failure)
    for (Files* files : {&named_, &fresh})
      for (VerifiedFile& file : *files)
        if (!file.failure) file.failure = failure;
  deliver();
  for (VerifiedFile& file : fresh)
    if (!file.failure) place(file);
  named_ = std::move(fresh);
  if (failure) deliver();
}

void Publisher::place(VerifiedFile& file) {
  try {
    if (file.part.empty()) {
      for (const TreeFile* link : file.links) target_.link(*link);
    } else {
      target_.place(file.part, file.links, file.sha256);
      if (file.large) file.large->publish();
    }
  } catch (const Error& error) {
    file.failure = error;
  } catch (const std::exception& error) {  // of the standard library: no memory, no thread
    file.failure = Error(ErrorKind::internal, error.what());
  }
  file.lock.reset();
}

void Publisher::deliver() {
  if (named_.empty()) return;
  done_(std::exchange(named_, {}));
}

}  // namespace hf::cache
