// What the sub-commands show alike.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/session/session.h"

namespace hf::runtime {

std::string shown(double value);  // three digits: "1.53e-06"

// The memory report, one fact a line, and as JSON with the process's own memory.
std::string memory_lines(const MemoryReport& memory);
nlohmann::json memory_json(const MemoryReport& memory);

}  // namespace hf::runtime
