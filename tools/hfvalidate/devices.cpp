#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "runtime/device.h"
#include "tools/hfvalidate/commands.h"
#include "tools/program/program.h"

namespace hf::runtime {
namespace {

struct State {
  std::string reason;  // why it cannot be opened; empty where it can
  std::uint64_t bytes = 0;
};

State state_of(const DeviceKind& kind) {
  try {
    return {"", kind.open(0, {.threads = 1, .cap_bytes = 0})->memory().cap_bytes};
  } catch (const Error& error) {
    return {error.what(), 0};
  }
}

int run_devices(const CommonOptions& options) {
  nlohmann::json out = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows;
  for (const DeviceKind& kind : device_kinds()) {
    const State state = state_of(kind);
    const bool available = state.reason.empty();
    rows.push_back({std::string(kind.name), available ? human_size(state.bytes) : "-",
                    available ? std::string(kind.help) : state.reason});
    out.push_back({{"name", kind.name}, {"help", kind.help}, {"available", available}});
    if (available)
      out.back()["memory_bytes"] = state.bytes;
    else
      out.back()["reason"] = state.reason;
  }
  if (options.json)
    print_json(out);
  else
    print_out(format_table({{"DEVICE"}, {"MEMORY", Column::Align::right}, {"WHAT"}}, rows));
  return 0;
}

}  // namespace

Command devices_command() {
  const auto o = std::make_shared<CommonOptions>();
  return {.name = "devices",
          .about = "List what can run a model",
          .examples = {"hfvalidate devices", "hfvalidate devices --json"},
          .exits = exits_of({0, 2}),
          .arguments = {flag("--json", o->json, "Print JSON")},
          .run = [o] { return run_devices(*o); }};
}

}  // namespace hf::runtime
