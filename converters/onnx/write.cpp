// model.onnx: ir_version 8, one opset import (ai.onnx 17), the graph; model.onnx_data: the weights' bytes.
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "converters/onnx/check.h"
#include "converters/onnx/lowering.h"
#include "converters/onnx/onnx.h"

namespace hf::onnx {
namespace {

using ::onnx::ModelProto;

ModelProto frame(const Model& model, const Part& part) {
  ModelProto proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name(std::string(kProducer));
  proto.mutable_graph()->set_name(part.name);
  auto& opset = *proto.add_opset_import();
  opset.set_domain("");
  opset.set_version(kOpset);
  const auto say = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto& pair = *proto.add_metadata_props();
    pair.set_key(key);
    pair.set_value(value);
  };
  say("model_type", model.model_type);
  say("class_name", model.class_name);
  say("task", model.task);
  return proto;
}

void remove_if_there(const std::filesystem::path& file) {
  std::error_code code;
  std::filesystem::remove(file, code);
  if (code) throw system_error(shown(file), code.value());
}

std::string serialized(const ModelProto& proto) {
  std::string out;
  if (!proto.SerializeToString(&out))
    throw Error(ErrorKind::unsupported, "the graph alone exceeds protobuf's limit of 2 GiB");
  return out;
}

// Both files are complete under temporary names before anything in the folder changes. Then: the older model
// goes, the data gets its name, the model gets its own. Whoever stops in between leaves no model.
std::vector<std::string> write_part(const Model& model, const Part& part, const std::filesystem::path& folder,
                                    const WriteOptions& options) {
  if (!part.graph.states.empty())
    throw Error(ErrorKind::unsupported, part.name + ": graphs with key/value caches are not written to ONNX");
  Progress& progress = options.progress != nullptr ? *options.progress : no_progress();
  const std::string model_name = part.name + ".onnx", data_name = part.name + ".onnx_data";
  const Graph graph = decompose(part.graph, &Lowering::lowers_whole);

  ModelProto proto = frame(model, part);
  Initializers initializers(*model.checkpoint);
  Lowering(graph, *model.checkpoint, *proto.mutable_graph(), initializers).run();

  progress.begin(model_name, initializers.bytes());
  std::optional<AtomicFile> data;
  std::uint64_t data_bytes = 0;
  if (initializers.bytes() <= options.inline_limit_bytes) {
    initializers.put_inside(*proto.mutable_graph(), progress);
  } else {
    data.emplace(folder / data_name);
    data_bytes = initializers.put_beside(*proto.mutable_graph(), data_name,
                                         {[&](std::span<const std::byte> bytes) { data->write(bytes); },
                                          [&](std::uint64_t offset) { data->pad_to(offset); }},
                                         progress);
  }
  progress.end();
  check_written(proto, data_bytes);
  AtomicFile file(folder / model_name);
  file.write(serialized(proto));

  remove_if_there(folder / model_name);
  sync_folder(folder);
  if (data)
    data->commit();
  else
    remove_if_there(folder / data_name);
  file.commit();
  if (data) return {model_name, data_name};
  return {model_name};
}

}  // namespace

std::vector<std::string> write(const Model& model, const std::filesystem::path& folder,
                               const WriteOptions& options) {
  std::vector<std::string> names;
  for (const Part& part : model.parts)
    for (std::string& name : write_part(model, part, folder, options)) names.push_back(std::move(name));
  return names;
}

}  // namespace hf::onnx
