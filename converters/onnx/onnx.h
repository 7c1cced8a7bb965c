// The front door: a Model out to ONNX files, and ONNX files back as a Model.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "base/progress.h"

namespace hf::onnx {

struct WriteOptions {
  // Weights of up to so many bytes in all stay inside model.onnx; more go to one file beside it.
  std::uint64_t inline_limit_bytes = std::uint64_t{1} << 20;
  Progress* progress = nullptr;  // bytes of weights
};

// Writes each part as folder/<part>.onnx (opset 17, IR 8, no operators but ai.onnx's) and, where its weights
// exceed the limit, folder/<part>.onnx_data. A file of that name is replaced: the older model goes before its
// data is touched, so no reader ever sees a model with data that is not its own. Returns the names written.
std::vector<std::string> write(const Model& model, const std::filesystem::path& folder,
                               const WriteOptions& options = {});

// Reads an .onnx file, or the one of a folder (model.onnx, if there are several): a Model of one part.
// Weights are the file's initializers: mapped where they are external, otherwise held by the Model's
// checkpoint. A config.json beside it becomes the Model's config; without one that is empty. Throws
// Error{unsupported} listing all operators that are not known, Error{integrity} where the file is malformed.
Model read(const std::filesystem::path& path);

}  // namespace hf::onnx
