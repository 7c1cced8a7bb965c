// A model folder's weights: one safetensors file, or an index and its shards.
//
// model.safetensors.index.json: {"metadata": {"total_size": bytes}, "weight_map": {tensor: shard file}}
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json_guard.h"
#include "base/path_rules.h"
#include "checkpoint/safetensors/safetensors.h"

namespace hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

struct Unread {
  std::string_view file, what;
};
// Weights that transformers would take where there is no safetensors file, in its order.
constexpr Unread kUnread[] = {
    {"pytorch_model.bin", "a torch pickle"},
    {"pytorch_model.bin.index.json", "torch pickles in shards"},
    {"tf_model.h5", "TensorFlow weights"},
    {"flax_model.msgpack", "Flax weights"},
};

class Sharded : public Checkpoint {
 public:
  Sharded(std::string subject, const fs::path& folder, const std::map<std::string, std::string>& weight_map)
      : subject_(std::move(subject)) {
    std::map<std::string, std::shared_ptr<const Checkpoint>> shards;
    for (const auto& [tensor, file] : weight_map) {
      std::shared_ptr<const Checkpoint>& shard = shards[file];
      if (!shard) {
        check_file_name(file);
        shard = safetensors::open(folder / file);
      }
      if (!shard->has(tensor))
        throw Error(ErrorKind::integrity, subject_ + ": tensor " + in_quotes(tensor) + " is not in " +
                                              in_quotes(file) + ", where the index has it");
      tensors_[tensor] = shard;
    }
    for (const auto& [file, shard] : shards)
      for (const std::string& tensor : shard->names())
        if (!tensors_.contains(tensor) || tensors_[tensor] != shard)
          throw Error(ErrorKind::integrity, subject_ + ": tensor " + in_quotes(tensor) + " of " +
                                                in_quotes(file) +
                                                " is not in the index, or stands in another shard");
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, shard] : tensors_) out.push_back(name);
    return out;
  }
  bool has(std::string_view name) const override { return tensors_.find(name) != tensors_.end(); }
  TensorInfo info(std::string_view name) const override { return shard(name).info(name); }
  TensorView view(std::string_view name) const override { return shard(name).view(name); }
  void release(std::string_view name) const override { shard(name).release(name); }
  std::string subject() const override { return subject_; }

 private:
  const Checkpoint& shard(std::string_view name) const {
    const auto at = tensors_.find(name);
    if (at == tensors_.end())
      throw Error(ErrorKind::not_found, subject_ + ": tensor " + in_quotes(name) + " is not there");
    return *at->second;
  }

  std::string subject_;
  std::map<std::string, std::shared_ptr<const Checkpoint>, std::less<>> tensors_;
};

std::shared_ptr<const Checkpoint> open_index(const fs::path& folder) {
  const fs::path file = folder / kIndex;
  const std::string subject = escaped(file.string(), 4096);
  const nlohmann::json root = parse_json(read_text(file), subject, DuplicateKeys::refused);
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (!root.is_object() || map == root.end() || !map->is_object())
    throw Error(ErrorKind::integrity, subject + ": has no \"weight_map\" object");
  std::map<std::string, std::string> weight_map;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string())
      throw Error(ErrorKind::integrity,
                  subject + ": the shard of tensor " + in_quotes(tensor) + " is not a file name");
    weight_map[tensor] = shard.get<std::string>();
  }
  if (weight_map.empty()) throw Error(ErrorKind::integrity, subject + ": \"weight_map\" is empty");
  return std::make_shared<Sharded>(subject, folder, weight_map);
}

}  // namespace

std::shared_ptr<const Checkpoint> open_folder(const fs::path& folder) {
  const std::string subject = escaped(folder.string(), 4096);
  if (!fs::is_directory(folder)) throw Error(ErrorKind::not_found, subject + ": is not a folder");
  if (fs::exists(folder / kFile)) return safetensors::open(folder / kFile);
  if (fs::exists(folder / kIndex)) return open_index(folder);
  for (const Unread& other : kUnread)
    if (fs::exists(folder / other.file))
      throw Error(ErrorKind::unsupported, subject + ": has " + std::string(other.what) + " (" +
                                              std::string(other.file) +
                                              ") only, safetensors weights are expected");
  throw Error(ErrorKind::not_found, subject + ": has no weights, " + std::string(kFile) + " or " +
                                        std::string(kIndex) + " is expected");
}

std::shared_ptr<const Checkpoint> open_file(const fs::path& file) {
  if (file.extension() == ".safetensors") return safetensors::open(file);
  throw Error(ErrorKind::unsupported, escaped(file.string(), 4096) + ": a .safetensors file is expected");
}

}  // namespace hf
