// model.safetensors.index.json: which shard has which tensor.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace hf {

// {"metadata": {"total_size": bytes}, "weight_map": {tensor: shard file}}; the map, at least one tensor long.
// Error{integrity} where it is not of that form, a tensor stands twice, or a shard's name is not a plain file
// name of the same folder.
std::map<std::string, std::string> parse_index(std::string_view json, std::string_view subject);

}  // namespace hf
