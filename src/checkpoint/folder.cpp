// A model folder's weights: one safetensors file, or an index and its shards.
#include <map>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "checkpoint/index.h"
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
    {"adapter_model.safetensors", "an adapter to another model"},
};

class Sharded : public Checkpoint {
 public:
  Sharded(std::string subject, const fs::path& folder, const std::map<std::string, std::string>& weight_map)
      : subject_(std::move(subject)) {
    std::map<std::string, std::shared_ptr<const Checkpoint>> shards;
    for (const auto& [tensor, file] : weight_map) {
      std::shared_ptr<const Checkpoint>& shard = shards[file];
      if (!shard)
        shard = with_context(subject_, [&, &name = file] { return safetensors::open(folder / name); });
      if (!shard->has(tensor))
        throw Error(ErrorKind::integrity, subject_ + ": tensor " + in_quotes(tensor) + " is not in " +
                                              in_quotes(file) + ", where the index has it");
      tensors_[tensor] = shard;
    }
    for (const auto& [file, shard] : shards)
      for (const std::string& tensor : shard->names())
        if (const auto at = tensors_.find(tensor); at == tensors_.end() || at->second != shard)
          throw Error(
              ErrorKind::integrity,
              subject_ + ": tensor " + in_quotes(tensor) + " of " + in_quotes(file) +
                  (at == tensors_.end() ? " is not in the index" : " is of another shard in the index"));
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
  const std::string subject = shown(file);
  return std::make_shared<Sharded>(subject, folder, parse_index(read_text(file), subject));
}

// A link that leads nowhere counts: reading it says what is wrong with it.
bool stands(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

std::shared_ptr<const Checkpoint> open_folder(const fs::path& folder) {
  const std::string subject = shown(folder);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) throw Error(ErrorKind::not_found, subject + ": is not a folder");
  if (stands(folder / kFile)) return safetensors::open(folder / kFile);
  if (stands(folder / kIndex)) return open_index(folder);
  for (const Unread& other : kUnread)
    if (stands(folder / other.file))
      throw Error(ErrorKind::unsupported, subject + ": has " + std::string(other.what) + " (" +
                                              std::string(other.file) +
                                              ") only, safetensors weights are expected");
  throw Error(ErrorKind::not_found, subject + ": has no weights, " + std::string(kFile) + " or " +
                                        std::string(kIndex) + " is expected");
}

std::shared_ptr<const Checkpoint> open_file(const fs::path& file) {
  if (file.extension() == ".safetensors") return safetensors::open(file);
  throw Error(ErrorKind::unsupported, shown(file) + ": a .safetensors file is expected");
}

}  // namespace hf
