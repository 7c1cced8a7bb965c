// The sub-commands of hfconvert: what each is asked, and what does it. Each returns the program's exit code.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace hf {

struct ConvertCommand {
  std::string model, format, task;
  std::optional<std::filesystem::path> output;
  std::string revision = "main";
  bool all_outputs = false, overwrite = false, json = false, quiet = false;
};
int run_convert(const ConvertCommand& command);

struct InspectCommand {
  std::string model, task, revision = "main";
  bool tensors = false, graph = false, all_outputs = false, json = false, quiet = false;
};
int run_inspect(const InspectCommand& command);

struct ListCommand {
  bool json = false, quiet = false;
};
int run_formats(const ListCommand& command);
int run_architectures(const ListCommand& command);

// What MODEL on the command line stands for: a path that exists as it is, else the snapshot of a repository
// in the user's cache. Throws Error{not_found} naming both places.
std::filesystem::path resolve_model(const std::string& model, const std::string& revision);

}  // namespace hf
