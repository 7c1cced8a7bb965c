// JSON from strangers: nlohmann's parser is iterative, but copying, comparing and dumping recurse, so depth
// is capped while parsing. The type itself stays out of headers (it costs seconds a unit): include
// nlohmann/json.hpp in the .cpp.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hf {

// Parses `text`; malformed or deeper than 100 levels, or (where asked) with a key twice in one object, is
// Error{integrity} with `subject` in front.
enum class DuplicateKeys { allowed, refused };
nlohmann::json parse_json(std::string_view text, std::string_view subject,
                          DuplicateKeys duplicates = DuplicateKeys::allowed);

}  // namespace hf
