// The logins of this machine, where and as huggingface_hub keeps them: the token in use alone in the file
// HF_TOKEN_PATH, all of them by name in the INI file `stored_tokens` beside it. Both have mode 0600.
//
//   [name]
//   hf_token = hf_…
//   refresh_token = …      (of OAuth's, with expires_at = <unix time>: kept as they are)
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"

namespace hf::cache {

struct StoredToken {
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;  // keys in lower case

  std::string_view field(std::string_view key) const;  // empty where there is none
  std::string_view token() const { return field("hf_token"); }
};

// As Python's configparser reads and writes such a file. What it would refuse is Error{integrity} with
// `subject` in front: logging in must not throw away what cannot be read.
std::vector<StoredToken> parse_stored_tokens(std::string_view text, std::string_view subject);
std::string stored_tokens_text(const std::vector<StoredToken>& tokens);  // sorted by name

class StoredTokens {
 public:
  explicit StoredTokens(const Environment& environment);

  const std::filesystem::path& token_file() const { return token_file_; }
  const std::filesystem::path& list_file() const { return list_file_; }

  std::vector<StoredToken> all() const;
  std::string in_use() const;  // the token file's content; empty where there is none

  // Adds or replaces, and makes it the one in use. The folder is made with mode 0700, and set to it unless
  // others share it (its sticky or setgid bit is set, others may write to it, or it is not ours).
  void save(const std::string& name, const std::string& token) const;
  // False where there is none of that name. The token file goes with the token that is in use.
  bool remove(std::string_view name) const;
  bool remove_all() const;  // false where there was none

 private:
  std::filesystem::path token_file_, list_file_;
};

}  // namespace hf::cache
