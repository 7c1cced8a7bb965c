#include "checkpoint/index.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/json_guard.h"
#include "base/path_rules.h"

namespace hf {

std::map<std::string, std::string> parse_index(std::string_view json, std::string_view subject) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::integrity, std::string(subject) + ": " + what);
  };
  const nlohmann::json root = parse_json(json, subject, DuplicateKeys::refused);
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (!root.is_object() || map == root.end() || !map->is_object()) refuse("has no \"weight_map\" object");
  std::map<std::string, std::string> weight_map;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) refuse("the shard of tensor " + in_quotes(tensor) + " is not a file name");
    with_context(subject, [&, &file = shard] { check_file_name(file.get_ref<const std::string&>()); });
    weight_map[tensor] = shard.get<std::string>();
  }
  if (weight_map.empty()) refuse("\"weight_map\" is empty");
  return weight_map;
}

}  // namespace hf
