#include "tools/hfvalidate/print.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/compare/report.h"
#include "runtime/memory/process_memory.h"
#include "tools/program/program.h"

namespace hf::runtime {

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value == 0 ? "%.0f" : "%.2e", value);
  return text;
}

std::string memory_lines(const MemoryReport& memory) {
  const ProcessMemory process = process_memory();
  const auto size = [](std::uint64_t bytes) { return human_size(bytes); };
  return "weights      " + size(memory.weight_bytes) + ", " + size(memory.mapped_bytes) +
         " of them read in place\n" + "activations  " + size(memory.planned_bytes) + " planned, " +
         size(memory.measured_bytes) + " measured, " + size(memory.unplanned_bytes) +
         " with a buffer for each value\n" + "process      " + size(process.resident_bytes) + " resident, " +
         size(process.peak_resident_bytes) + " at the peak\n";
}

nlohmann::json memory_json(const MemoryReport& memory) {
  const ProcessMemory process = process_memory();
  nlohmann::json out = to_json(memory);
  out["resident_bytes"] = process.resident_bytes;
  out["peak_resident_bytes"] = process.peak_resident_bytes;
  return out;
}

}  // namespace hf::runtime
