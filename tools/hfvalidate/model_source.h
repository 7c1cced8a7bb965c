// The MODEL of a command line: a folder, a file, or a repository in the cache.
#pragma once
#include <filesystem>
#include <string>

#include "arch/arch.h"
#include "runtime/session/session.h"
#include "tools/hfvalidate/commands.h"

namespace hf::runtime {

struct ModelSource {
  Model model;
  std::filesystem::path folder;  // where it lies
  const Graph& graph() const { return model.parts[0].graph; }
};

// `word` is an .onnx file; a folder with .onnx files (they go first, as what was converted) or with
// config.json and safetensors; else a repository id, looked up in the cache with no network. A checkpoint's
// model has all outputs, also those that exporters drop. Throws Error{not_found} where it is none of these,
// Error{unsupported} where a model has several parts.
ModelSource open_model(const std::string& word, const ModelOptions& options);

// One step on the inputs that `file` holds. What the model cannot take of them is the file's fault and not
// the command line's: Error{integrity} that names it.
Results step_with(Session& session, const Inputs& inputs, const std::filesystem::path& file);

}  // namespace hf::runtime
