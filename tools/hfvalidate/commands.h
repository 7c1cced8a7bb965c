// The sub-commands of hfvalidate: what each is asked, and what does it. Each returns the program's exit code.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hf::runtime {

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

struct CompareOptions : ModelOptions {
  std::string against;  // a reference file or a model; empty: reference.safetensors beside the model
  std::optional<double> tolerance;
};
int run_compare(const CompareOptions& options);

struct RunOptions : ModelOptions {
  std::optional<std::filesystem::path> inputs, output;
};
int run_run(const RunOptions& options);

struct DevicesOptions : CommonOptions {};
int run_devices(const DevicesOptions& options);

}  // namespace hf::runtime
