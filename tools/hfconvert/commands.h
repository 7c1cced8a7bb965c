// The sub-commands of hfconvert: a row of the command table each, in the file of that name, and the rows that
// they share.
#pragma once
#include <string>
#include <vector>

#include "tools/program/command.h"

namespace hf {

// `hfconvert MODEL` itself: the root of the table, which has the others below it.
Command convert_command();
Command inspect_command();
Command formats_command();
Command architectures_command();

struct CommonOptions {
  bool json = false, quiet = false;
};
std::vector<Argument> common_rows(CommonOptions& options);

struct ModelOptions : CommonOptions {
  std::string model, task, revision = "main";
  bool all_outputs = false;
};
std::vector<Argument> model_rows(ModelOptions& options);

}  // namespace hf
