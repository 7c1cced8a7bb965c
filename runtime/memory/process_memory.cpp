#include "runtime/memory/process_memory.h"

#include <fstream>
#include <sstream>
#include <string>

namespace hf::runtime {

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string field;
    std::uint64_t kibibytes = 0;
    if (!(words >> field >> kibibytes)) continue;
    if (field == "VmRSS:") memory.resident_bytes = kibibytes * 1024;
    if (field == "VmHWM:") memory.peak_resident_bytes = kibibytes * 1024;
  }
  return memory;
}

}  // namespace hf::runtime
