#include "base/path_rules.h"
#include "checkpoint/index.h"
#include "fuzz/fuzz.h"

using namespace hf;

// Whatever the index says, its shards are plain names in its own folder.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  return fuzz::only_errors([&] {
    const auto weight_map = parse_index(text, "input");
    fuzz::require(!weight_map.empty(), "an empty map");
    for (const auto& [tensor, shard] : weight_map) {
      check_file_name(shard);
      fuzz::require(shard.find('/') == std::string::npos && shard != "..", "a shard in another folder");
    }
  });
}
