#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "converters/onnx/importer.h"
#include "converters/onnx/onnx.h"
#include "converters/onnx/parse_model.h"
#include "converters/onnx/recognise.h"

namespace hf::onnx {
namespace {

namespace fs = std::filesystem;

// model.onnx, or the only .onnx file of the folder.
fs::path model_file(const fs::path& folder) {
  std::error_code code;
  if (fs::exists(folder / "model.onnx", code)) return folder / "model.onnx";
  std::vector<fs::path> found;
  fs::directory_iterator entries(folder, code);
  if (code) throw system_error(shown(folder), code.value());
  for (const fs::directory_entry& entry : entries)
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  if (found.empty()) throw Error(ErrorKind::not_found, shown(folder) + ": has no .onnx file");
  if (found.size() > 1)
    throw Error(ErrorKind::usage, shown(folder) + ": has several .onnx files, the name of one is expected");
  return found[0];
}

Config config_beside(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code code;
  if (fs::is_regular_file(folder / "config.json", code)) return Config::load(folder);
  return Config::parse("{}", shown(file) + ", which has no config.json beside it");
}

std::string property(const ::onnx::ModelProto& proto, std::string_view key) {
  for (const auto& pair : proto.metadata_props())
    if (pair.key() == key) return pair.value();
  return {};
}

}  // namespace

Model read(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? model_file(path) : path;
  return with_context(shown(file), [&] {
    const std::shared_ptr<const ::onnx::ModelProto> proto = parse_model(file);
    auto tensors = std::make_shared<const StoredTensors>(proto, file);
    Graph graph = recognise(Importer(*proto, *tensors).run());
    check(graph);
    Model model{{},
                tensors,
                config_beside(file),
                property(*proto, "model_type"),
                property(*proto, "class_name"),
                property(*proto, "task")};
    if (model.model_type.empty()) model.model_type = model.config.text("model_type", "");
    model.parts.push_back({file.stem().string(), std::move(graph)});
    return model;
  });
}

}  // namespace hf::onnx
