// How long work tells how far it is. Libraries report; only a program draws.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace hf {

class Progress {
 public:
  virtual ~Progress() = default;
  // A piece of work of `total` units (bytes, unless the label says otherwise) begins; 0 where the total is
  // unknown.
  virtual void begin(std::string_view label, std::uint64_t total) = 0;
  virtual void advance(std::uint64_t amount) = 0;  // may be called from any thread
  virtual void end() = 0;
};

// Where nobody looks.
Progress& no_progress();

// Set by the program's SIGINT / SIGTERM handler; long loops call check_interrupted(), which throws
// Error{interrupted} once it is set.
void request_interrupt();
void check_interrupted();

}  // namespace hf
