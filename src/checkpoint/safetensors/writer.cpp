#include <cstring>
#include <nlohmann/json.hpp>

#include "checkpoint/safetensors/dtypes.h"
#include "checkpoint/safetensors/safetensors.h"

namespace hf::safetensors {

void write(const std::filesystem::path& file, const std::vector<std::pair<std::string, TensorView>>& tensors,
           const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t end = at + tensor.bytes.size();
    header[name] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  char prefix[8];
  std::memcpy(prefix, &length, 8);
  AtomicFile out(file);
  out.write(std::string_view(prefix, 8));
  out.write(text);
  for (const auto& [name, tensor] : tensors) out.write(tensor.bytes);
  out.commit();
}

}  // namespace hf::safetensors
