#include "tools/program/resolve_model.h"

#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/repo.h"
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

namespace {

std::vector<std::string> cached(bool models_only) {
  std::vector<std::string> out;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(cache::cache_root(Environment::of_process()), failed), end;
       !failed && at != end; at.increment(failed)) {
    cache::Repo repo;
    if (!cache::parse_folder_name(at->path().filename().string(), repo)) continue;
    const bool is_model = repo.type == cache::RepoType::model;
    if (is_model)
      out.push_back(repo.id);
    else if (!models_only && repo.id.find('/') != std::string::npos)  // as an id alone it would be a model's
      out.push_back(std::string(cache::name_of(repo.type)) + "s/" + repo.id);
  }
  return out;
}

}  // namespace

std::vector<std::string> cached_repos() { return cached(false); }
std::vector<std::string> cached_models() { return cached(true); }

}  // namespace hf
