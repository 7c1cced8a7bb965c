#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "checkpoint/safetensors/dtypes.h"
#include "checkpoint/safetensors/safetensors.h"

namespace hf::safetensors {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& what) {
  throw Error(ErrorKind::internal, "tensor " + in_quotes(name) + " cannot be written: " + what);
}

// The header's JSON, padded to 8 bytes.
std::string header_of(const std::vector<std::pair<std::string, TensorView>>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    if (header.contains(name)) refuse(name, "the name is taken");
    if (bytes_of(tensor.dtype, tensor.shape) != tensor.bytes.size())
      refuse(name, "shape " + to_string(tensor.shape) + " has other than " +
                       std::to_string(tensor.bytes.size()) + " bytes");
    const std::uint64_t end = at + tensor.bytes.size();
    header[name] = {
        {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  if (metadata.empty()) header.erase("__metadata__");
  try {
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const nlohmann::json::type_error&) {
    throw Error(ErrorKind::internal, "a tensor's name or metadata is not UTF-8 and cannot be written");
  }
}

}  // namespace

void write(const std::filesystem::path& file, const std::vector<std::pair<std::string, TensorView>>& tensors,
           const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  char prefix[8];
  std::memcpy(prefix, &length, 8);
  AtomicFile out(file);
  out.write(std::string_view(prefix, 8));
  out.write(header);
  for (const auto& [name, tensor] : tensors) out.write(tensor.bytes);
  out.commit();
}

}  // namespace hf::safetensors
