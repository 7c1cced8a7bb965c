// The sub-commands of hfvalidate: a row of the command table each, in the file of that name, and the rows
// that they share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/program/command.h"

namespace hf::runtime {

Command compare_command();
Command run_command();
Command devices_command();

struct CommonOptions {
  bool json = false, quiet = false;
};

// A model, what runs it, and the inputs that are made where none are recorded.
struct ModelOptions : CommonOptions {
  std::string model, revision = "main", task;
  std::string device = "cpu";
  std::size_t threads = 0;  // 0: one a core
  std::uint64_t seed = 0;
  std::int64_t batch = 2, sequence = 16;
  bool layers = false;
};
std::vector<Argument> model_rows(ModelOptions& options);  // with --json

}  // namespace hf::runtime
