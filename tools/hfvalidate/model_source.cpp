#include "tools/hfvalidate/model_source.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "converters/onnx/onnx.h"
#include "tools/program/resolve_model.h"

namespace hf::runtime {
namespace {

namespace fs = std::filesystem;

bool holds_onnx(const fs::path& folder) {
  const fs::directory_iterator entries(folder);
  return std::any_of(begin(entries), end(entries),
                     [](const fs::directory_entry& entry) { return entry.path().extension() == ".onnx"; });
}

}  // namespace

ModelSource open_model(const std::string& word, const ModelOptions& options) {
  const fs::path path = resolve_model(word, options.revision);
  ModelSource source;
  if (!fs::is_directory(path)) {
    if (path.extension() != ".onnx")
      throw Error(ErrorKind::usage, in_quotes(word) + ": is no model, expected an .onnx file or a folder");
    source = {onnx::read(path), path.parent_path()};
  } else if (holds_onnx(path)) {
    source = {onnx::read(path), path};
  } else {
    source = {load_model(path, {.task = options.task, .all_outputs = true}), path};
  }
  if (source.model.parts.size() != 1)
    throw Error(ErrorKind::unsupported, in_quotes(word) + ": has " +
                                            std::to_string(source.model.parts.size()) +
                                            " parts, models of one part can be run");
  return source;
}

Results step_with(Session& session, const Inputs& inputs, const fs::path& file) {
  try {
    return session.step(inputs);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw Error(ErrorKind::integrity, shown(file) + ": " + error.what());
  }
}

}  // namespace hf::runtime
