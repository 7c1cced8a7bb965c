// Standard input, read so that a signal ends the waiting: Error{interrupted}.
#pragma once
#include <cstddef>
#include <string>

namespace hf {

// Until its end, or of a terminal until the line's. Error{usage} beyond `limit` bytes.
enum class Until { end, line_end };
std::string read_standard_input(std::size_t limit, Until until = Until::end);

}  // namespace hf
