#include "base/progress.h"

#include "base/error.h"

namespace hf {
namespace {

class Silent : public Progress {
  void begin(std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override {}
  void end() override {}
};

std::atomic<bool> interrupt_requested{false};

}  // namespace

Progress& no_progress() {
  static Silent silent;
  return silent;
}

void request_interrupt() { interrupt_requested.store(true, std::memory_order_relaxed); }

void check_interrupted() {
  if (interrupt_requested.load(std::memory_order_relaxed)) throw Error(ErrorKind::interrupted, "interrupted");
}

}  // namespace hf
