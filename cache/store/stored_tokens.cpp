#include "cache/store/stored_tokens.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "cache/hub/credentials.h"
#include "cache/store/file_lock.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 1 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// One line of the file after another, kept in the parts that it belongs to.
class Reader {
 public:
  explicit Reader(std::string_view subject) : subject_(subject) {}

  void line(std::string_view raw) {
    ++number_;
    const std::string_view text = trimmed(raw);
    const bool indented = !raw.empty() && (raw[0] == ' ' || raw[0] == '\t');
    if (text.empty() || text[0] == '#' || text[0] == ';') return;
    if (indented && value_ != nullptr) {
      *value_ += '\n';
      *value_ += text;
    } else if (text[0] == '[' && text.rfind(']') != std::string_view::npos && text.rfind(']') > 1) {
      section(std::string(text.substr(1, text.rfind(']') - 1)));
    } else {
      field(text);
    }
  }

  std::vector<StoredToken> take() { return std::move(tokens_); }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorKind::integrity,
                std::string(subject_) + ": line " + std::to_string(number_) + " " + what);
  }

  void section(std::string name) {
    for (const StoredToken& token : tokens_)
      if (token.name == name) fail("begins a token that is there already");
    tokens_.push_back({std::move(name), {}});
    value_ = nullptr;
  }

  void field(std::string_view text) {
    const std::size_t equals = text.find_first_of("=:");
    if (tokens_.empty()) fail("belongs to no token, [name] is expected");
    if (equals == std::string_view::npos || equals == 0) fail("is no \"key = value\"");
    std::string key(trimmed(text.substr(0, equals)));
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    auto& fields = tokens_.back().fields;
    for (const auto& [other, value] : fields)
      if (other == key) fail("gives a key a second time");
    value_ = &fields.emplace_back(std::move(key), trimmed(text.substr(equals + 1))).second;
  }

  std::string_view subject_;
  std::size_t number_ = 0;
  std::vector<StoredToken> tokens_;
  std::string* value_ = nullptr;  // that an indented line goes on with
};

void write_secret(const fs::path& file, std::string_view text) {
  AtomicFile out(behind_link(file), 0600);
  out.write(text);
  out.commit();
}

void make_folder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) {
    fs::create_directories(folder.parent_path(), failed);
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      throw Error(ErrorKind::io, system_error(shown(folder), errno).what());
    return;
  }
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return;
  const bool shared =
      info.st_uid != geteuid() || (info.st_mode & (S_ISVTX | S_ISGID | S_IWGRP | S_IWOTH)) != 0;
  if (!shared) chmod(folder.c_str(), 0700);
}

// What changes the list is done by one process at a time.
FileLock lock(const fs::path& list) { return FileLock(list.string() + ".lock"); }

}  // namespace

std::string_view StoredToken::field(std::string_view key) const {
  for (const auto& [name, value] : fields)
    if (name == key) return value;
  return "";
}

std::vector<StoredToken> parse_stored_tokens(std::string_view text, std::string_view subject) {
  Reader reader(subject);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return reader.take();
}

std::string stored_tokens_text(const std::vector<StoredToken>& tokens) {
  std::vector<const StoredToken*> sorted;
  for (const StoredToken& token : tokens) sorted.push_back(&token);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  std::string out;
  for (const StoredToken* token : sorted) {
    out += "[" + token->name + "]\n";
    for (const auto& [key, value] : token->fields) {
      out += key + " = ";
      for (const char c : value) out += c == '\n' ? std::string("\n\t") : std::string(1, c);
      out += '\n';
    }
    out += '\n';
  }
  return out;
}

StoredTokens::StoredTokens(const Environment& environment)
    : token_file_(token_path(environment)), list_file_(token_file_.parent_path() / "stored_tokens") {}

std::vector<StoredToken> StoredTokens::all() const {
  std::error_code failed;
  if (!fs::exists(list_file_, failed)) return {};
  return parse_stored_tokens(read_text(list_file_, kMostBytes), shown(list_file_));
}

std::string StoredTokens::in_use() const {
  std::error_code failed;
  if (!fs::exists(token_file_, failed)) return "";
  return cleaned_token(read_text(token_file_, kMostBytes), shown(token_file_));
}

void StoredTokens::save(const std::string& name, const std::string& token) const {
  const bool breaks =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (name.empty() || name == "DEFAULT" || breaks || trimmed(name) != name)
    throw Error(ErrorKind::usage, in_quotes(name) + ": cannot be the name of a stored token");
  make_folder(token_file_.parent_path());
  const FileLock held = lock(list_file_);
  std::vector<StoredToken> tokens = all();
  std::erase_if(tokens, [&](const StoredToken& other) { return other.name == name; });
  tokens.push_back({name, {{"hf_token", token}}});
  write_secret(list_file_, stored_tokens_text(tokens));
  write_secret(token_file_, token);
}

bool StoredTokens::remove(std::string_view name) const {
  std::error_code failed;
  if (!fs::exists(list_file_, failed)) return false;
  const FileLock held = lock(list_file_);
  std::vector<StoredToken> tokens = all();
  const auto found = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const StoredToken& token) { return token.name == name; });
  if (found == tokens.end()) return false;
  const bool used = found->token() == in_use();
  tokens.erase(found);
  write_secret(list_file_, stored_tokens_text(tokens));
  if (used) fs::remove(token_file_, failed);
  return true;
}

bool StoredTokens::remove_all() const {
  bool any = false;
  for (const fs::path& file : {token_file_, list_file_}) {
    std::error_code failed;
    any = fs::remove(file, failed) || any;
    if (failed) throw Error(ErrorKind::io, system_error(shown(file), failed.value()).what());
  }
  return any;
}

}  // namespace hf::cache
