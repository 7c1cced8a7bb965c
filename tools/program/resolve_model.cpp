#include "tools/program/resolve_model.h"

#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "cache/store/store.h"

namespace hf {

std::filesystem::path resolve_model(const std::string& model, const std::string& revision) {
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(model, code);
  if (std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status)) return model;
  if (std::filesystem::exists(status))
    throw Error(ErrorKind::usage, escaped(model, 4096) + ": is neither a file nor a folder");
  const bool path = model.empty() || model.front() == '/' || model.front() == '.' || model.ends_with('/') ||
                    model.ends_with(".onnx") || model.ends_with(".safetensors");
  if (path) throw Error(ErrorKind::not_found, escaped(model, 4096) + ": no such file or folder");
  return with_context("no file or folder " + in_quotes(model) + ", nor in the cache",
                      [&] { return cache::locate(model, revision); });
}

}  // namespace hf
