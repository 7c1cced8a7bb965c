// Every wait of a download that is not the network's own (those are in ClientOptions), in one place so that
// tests can shorten them.
#pragma once
#include <chrono>

namespace hf::cache {

struct Timings {
  std::chrono::milliseconds batch{250};             // small files wait so long for others to share a flush
  std::chrono::milliseconds lock_poll{100};         // how often another process's lock is looked at
  std::chrono::milliseconds lock_patience{60'000};  // then a holder that makes no progress is not waited for
  // Of a large file's connections: new ones begin with what lay in buffers, or slowly; then they are
  // measured.
  std::chrono::milliseconds settling{60};
  std::chrono::milliseconds measuring{120};
};

}  // namespace hf::cache
