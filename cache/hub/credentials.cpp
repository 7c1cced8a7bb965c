#include "cache/hub/credentials.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"

namespace hf::cache {
namespace {

std::string token_in(const std::filesystem::path& file) {
  constexpr std::uint64_t kMost = 64 << 10;
  return cleaned_token(read_text(file, kMost), shown(file));
}

}  // namespace

std::string cleaned_token(std::string text, std::string_view subject) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= 0x20 || c >= 0x7f; }))
    throw Error(ErrorKind::usage, std::string(subject) + ": holds characters that no token has");
  return text;
}

std::filesystem::path token_path(const Environment& environment) {
  const auto named = environment.get("HF_TOKEN_PATH");
  return named ? environment.expand(*named) : hf_home(environment) / "token";
}

std::string endpoint(const Environment& environment) {
  std::string url = environment.get("HF_ENDPOINT").value_or("https://huggingface.co");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::filesystem::path hf_home(const Environment& environment) {
  if (const auto home = environment.get("HF_HOME")) return environment.expand(*home);
  if (const auto caches = environment.get("XDG_CACHE_HOME"))
    return environment.expand(*caches) / "huggingface";
  return environment.home() / ".cache" / "huggingface";
}

std::string token(const Environment& environment, const std::optional<std::filesystem::path>& token_file) {
  if (token_file) return token_in(*token_file);
  if (environment.is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return "";
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const auto value = environment.get(name))
      if (std::string clean = cleaned_token(*value, name); !clean.empty()) return clean;
  const std::filesystem::path file = token_path(environment);
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) ? token_in(file) : "";
}

bool is_offline(const Environment& environment) { return offline_variable(environment) != nullptr; }

const char* offline_variable(const Environment& environment) {
  const char* variable = environment.get("HF_HUB_OFFLINE") ? "HF_HUB_OFFLINE" : "TRANSFORMERS_OFFLINE";
  return environment.is_on(variable) ? variable : nullptr;
}

}  // namespace hf::cache
