#include "runtime/compare/reference.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json_guard.h"
#include "checkpoint/safetensors/safetensors.h"

namespace hf::runtime {
namespace {

constexpr std::string_view kInputs = "inputs.", kOutputs = "outputs.", kNoise = "noise.";

void add_noise(Reference& reference, std::string_view name, double value, const std::string& where) {
  if (!std::isfinite(value) || value < 0)
    throw Error(ErrorKind::integrity, where + ": the noise of " + in_quotes(name) + " is no difference");
  if (name.starts_with(kOutputs)) name.remove_prefix(kOutputs.size());
  reference.noise.insert_or_assign(std::string(name), value);
}

void read_metadata_noise(Reference& reference, const std::filesystem::path& file) {
  for (const auto& [key, text] : safetensors::read_metadata(file)) {
    if (!key.starts_with(kNoise)) continue;
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) value = std::nan("");
    add_noise(reference, std::string_view(key).substr(kNoise.size()), value, reference.subject);
  }
}

void read_case_noise(Reference& reference, const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  const std::string subject = file.string();
  const nlohmann::json facts = parse_json(read_text(file), subject);
  const auto noise = facts.is_object() ? facts.find("fp32_vs_fp64_max_abs") : facts.end();
  if (!facts.is_object() || noise == facts.end()) return;
  if (!noise->is_object())
    throw Error(ErrorKind::integrity, subject + ": \"fp32_vs_fp64_max_abs\" is not an object");
  for (const auto& [name, value] : noise->items())
    add_noise(reference, name, value.is_number() ? value.get<double>() : std::nan(""), subject);
}

}  // namespace

double Reference::noise_of(std::string_view output) const {
  const auto at = noise.find(output);
  return at == noise.end() ? 0 : at->second;
}

Reference read_reference(const std::filesystem::path& file) {
  Reference out;
  out.subject = file.string();
  out.tensors = safetensors::open(file);
  for (const std::string& name : out.tensors->names()) {
    const std::string_view text = name;
    if (text.starts_with(kInputs))
      out.inputs.emplace(text.substr(kInputs.size()), out.tensors->view(name));
    else if (text.starts_with(kOutputs))
      out.outputs.emplace(text.substr(kOutputs.size()), out.tensors->view(name));
    else
      throw Error(ErrorKind::integrity, escaped(out.subject) + ": tensor " + in_quotes(name) +
                                            " is no reference, expected inputs.NAME and outputs.NAME");
  }
  if (out.inputs.empty() || out.outputs.empty())
    throw Error(ErrorKind::integrity, escaped(out.subject) + ": has no " +
                                          (out.inputs.empty() ? "inputs.NAME" : "outputs.NAME") +
                                          ", which a reference needs");
  read_metadata_noise(out, file);
  read_case_noise(out, file.parent_path() / "case.json");
  return out;
}

}  // namespace hf::runtime
