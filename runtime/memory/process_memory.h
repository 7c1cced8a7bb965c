// What the kernel counts for this process.
#pragma once
#include <cstdint>

namespace hf::runtime {

struct ProcessMemory {
  std::uint64_t resident_bytes = 0;       // now: VmRSS
  std::uint64_t peak_resident_bytes = 0;  // the greatest so far: VmHWM
};

// From /proc/self/status; zeros where there is none.
ProcessMemory process_memory();

}  // namespace hf::runtime
