// hfconvert formats, hfconvert architectures: the tables as they are.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converters/format.h"
#include "tools/hfconvert/commands.h"
#include "tools/program/program.h"

namespace hf {
namespace {

int run_formats(const CommonOptions& command) {
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

int run_architectures(const CommonOptions& command) {
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

Command list_command(const char* name, const char* about, int (*run)(const CommonOptions&)) {
  const auto o = std::make_shared<CommonOptions>();
  const std::string line = std::string("hfconvert ") + name;
  return {.name = name,
          .about = about,
          .examples = {line, line + " --json"},
          .exits = exits_of({0, 2}),
          .arguments = common_rows(*o),
          .run = [o, run] { return run(*o); }};
}

}  // namespace

Command formats_command() {
  return list_command("formats", "List the formats that can be written", run_formats);
}

Command architectures_command() {
  return list_command("architectures", "List the classes that are supported, with their tasks",
                      run_architectures);
}

}  // namespace hf
