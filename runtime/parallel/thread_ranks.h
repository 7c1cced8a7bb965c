// Ranks as threads of one process.
#pragma once
#include <functional>

#include "runtime/parallel/communicator.h"

namespace hf::runtime {

// Calls work(communicator) for each of `ranks` ranks, each in a thread, and returns when all have ended.
// Where one throws, or ends while others wait for it, the others are released with an Error; what the first
// one threw comes out, an Error with "rank N: " before its message.
void run_ranks(int ranks, const std::function<void(Communicator&)>& work);

}  // namespace hf::runtime
