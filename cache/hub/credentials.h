// Where the Hub is and who asks, by Hugging Face's variables.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/environment.h"

namespace hf::cache {

// HF_ENDPOINT without trailing slashes, else https://huggingface.co.
std::string endpoint(const Environment& environment);

// HF_HOME, else $XDG_CACHE_HOME/huggingface, else ~/.cache/huggingface.
std::filesystem::path hf_home(const Environment& environment);

// The token to send: of `token_file` where one is named (it must be there), else HF_TOKEN,
// HUGGING_FACE_HUB_TOKEN, else the file HF_TOKEN_PATH or <hf_home>/token where there is one. Empty: none, as
// with HF_HUB_DISABLE_IMPLICIT_TOKEN and no `token_file`.
std::string token(const Environment& environment, const std::optional<std::filesystem::path>& token_file);

// The file of the token in use: HF_TOKEN_PATH, else <hf_home>/token.
std::filesystem::path token_path(const Environment& environment);

// A token as it was typed or stored, without the blanks and line ends around it. Error{usage} with `subject`
// in front where it holds what would break out of a header.
std::string cleaned_token(std::string text, std::string_view subject);

// HF_HUB_OFFLINE, else TRANSFORMERS_OFFLINE: no request is to be made.
bool is_offline(const Environment& environment);
// The variable that says so; null where none does.
const char* offline_variable(const Environment& environment);

}  // namespace hf::cache
