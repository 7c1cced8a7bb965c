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

}  // namespace hf
