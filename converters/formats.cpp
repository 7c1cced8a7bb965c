#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/escape.h"
#include "converters/format.h"
#include "converters/onnx/onnx.h"

namespace hf {
namespace {

constexpr std::array kFormats{Format{
    "onnx", "ONNX, opset 17: model.onnx, with weights above 1 MiB in model.onnx_data", "opset 17, IR 8",
    [](const Model& model, const std::filesystem::path& folder, Progress& progress) {
      onnx::WriteOptions options;
      options.progress = &progress;
      return onnx::write(model, folder, options);
    },
    onnx::read}};

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format& format_named(std::string_view name) {
  const auto* row =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) { return f.name == name; });
  if (row != kFormats.end()) return *row;
  std::string known;
  for (const Format& f : kFormats) known += (known.empty() ? "" : ", ") + std::string(f.name);
  throw Error(ErrorKind::usage, "format " + in_quotes(name) + " is not known, there is " + known);
}

}  // namespace hf
