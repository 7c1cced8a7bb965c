#include <nlohmann/json.hpp>

#include "base/json_guard.h"
#include "fuzz/fuzz.h"

using namespace hf;

// What parses is written and read again as the same value; without twice-used keys both modes agree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  return fuzz::only_errors([&] {
    const nlohmann::json json = parse_json(text, "input");
    const std::string written = json.dump();
    fuzz::require(parse_json(written, "output", DuplicateKeys::refused) == json,
                  "another value when read again");
    fuzz::require(parse_json(text, "input", DuplicateKeys::refused) == json,
                  "another value when keys are checked");
  });
}
