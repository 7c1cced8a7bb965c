// A model folder into another format: the graphs and weights, and what stands beside them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "converters/format.h"

namespace hf {

struct ConvertOptions {
  LoadOptions load;
  bool overwrite = false;
  std::string version;  // of the program, for the manifest
  Progress* progress = nullptr;
};

struct Conversion {
  std::vector<std::string> files;       // written, below the output folder
  std::vector<std::string> unexpected;  // weights of the source that the model does not use
  std::string class_name, task;
};

// Converts the model in the folder `source` into the folder `output`. config.json and the files of tokenizer,
// preprocessor and generation are carried byte for byte; hfconvert.json says what was made of what: program,
// format, task, and the sources with their sha256 (a file of a Hugging Face cache is named by it, another is
// read). Nothing appears in `output` before all is done. Throws Error{usage} where `output` is the source, or
// is not empty and `overwrite` was not asked for.
Conversion convert(const std::filesystem::path& source, const Format& format,
                   const std::filesystem::path& output, const ConvertOptions& options);

}  // namespace hf
