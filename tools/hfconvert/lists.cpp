// hfconvert formats, hfconvert architectures: the tables as they are.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converters/format.h"
#include "tools/hfconvert/commands.h"
#include "tools/program/program.h"

namespace hf {

int run_formats(const ListCommand& command) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Format& f : formats()) {
    list.push_back({{"name", f.name}, {"version", f.version}, {"help", f.help}});
    rows.push_back({std::string(f.name), std::string(f.help)});
  }
  if (command.json)
    print_json(list);
  else
    print_out(format_table({{"FORMAT"}, {"WRITES"}}, rows));
  return 0;
}

int run_architectures(const ListCommand& command) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Architecture& a : architectures()) {
    nlohmann::ordered_json heads = nlohmann::ordered_json::array();
    for (const std::string_view head : a.heads) {
      const std::string name = std::string(a.class_prefix) + std::string(head), task(task_of(head));
      heads.push_back({{"class", name}, {"task", task}});
      rows.push_back({std::string(a.model_type), name, task});
    }
    list.push_back({{"model_type", a.model_type}, {"help", a.help}, {"classes", std::move(heads)}});
  }
  if (command.json)
    print_json(list);
  else
    print_out(format_table({{"MODEL_TYPE"}, {"CLASS"}, {"TASK"}}, rows));
  return 0;
}

}  // namespace hf
