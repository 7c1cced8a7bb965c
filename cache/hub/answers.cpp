#include "cache/hub/answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/json_guard.h"
#include "base/path_rules.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

using nlohmann::json;

[[noreturn]] void malformed(std::string_view subject, const std::string& what) {
  throw Error(ErrorKind::integrity, std::string(subject) + ": " + what);
}

std::string text_of(const json& object, const char* key, std::string_view subject) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    malformed(subject, std::string("\"") + key + "\" is no text");
  return found->get<std::string>();
}

std::uint64_t size_of(const json& object, std::string_view subject) {
  const auto found = object.find("size");
  if (found == object.end() || !found->is_number_unsigned()) malformed(subject, "\"size\" is no size");
  return found->get<std::uint64_t>();
}

TreeFile parse_file(const json& entry, std::string_view subject) {
  TreeFile file;
  file.path = text_of(entry, "path", subject);
  check_relative_path(file.path);
  const std::string where = std::string(subject) + ", " + in_quotes(file.path);
  file.size = size_of(entry, where);
  file.git_oid = text_of(entry, "oid", where);
  if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object()) {
    file.sha256 = text_of(*lfs, "oid", where);
    file.size = size_of(*lfs, where);
    if (file.sha256.size() != 64 || !is_etag(file.sha256)) malformed(where, "LFS oid is no sha256");
  }
  // Of an LFS file, git's oid is only told on; some servers leave it out or make one up.
  if (file.sha256.empty() && !is_commit(file.git_oid)) malformed(where, "oid is no sha1");
  if (const auto xet = entry.find("xetHash"); xet != entry.end() && xet->is_string())
    file.xet_hash = xet->get<std::string>();
  return file;
}

struct Refusal {
  std::string_view code;
  ErrorKind kind;
  std::string_view text;
};

// The Hub's own codes, then what a status means without one.
constexpr Refusal kByCode[] = {
    {"RevisionNotFound", ErrorKind::not_found, "the repository has no such revision"},
    {"EntryNotFound", ErrorKind::not_found, "the revision has no such file"},
    {"RepoNotFound", ErrorKind::not_found,
     "no such repository, or a private one that the token does not open"},
    {"GatedRepo", ErrorKind::denied,
     "the repository is gated: accept its terms on the Hub, then use a token"},
};

}  // namespace

std::string parse_commit(std::string_view text, std::string_view subject) {
  const json info = parse_json(text, subject);
  if (!info.is_object()) malformed(subject, "answer is no JSON object");
  std::string commit = text_of(info, "sha", subject);
  if (!is_commit(commit))
    malformed(subject, "\"sha\" is " + in_quotes(commit) + ", 40 hex digits are expected");
  return commit;
}

std::vector<TreeFile> parse_tree_page(std::string_view text, std::string_view subject) {
  const json page = parse_json(text, subject);
  if (!page.is_array()) malformed(subject, "answer is no JSON array");
  std::vector<TreeFile> files;
  for (const json& entry : page) {
    if (!entry.is_object()) malformed(subject, "an entry is no JSON object");
    if (text_of(entry, "type", subject) == "file") files.push_back(parse_file(entry, subject));
  }
  return files;
}

void check_tree(std::vector<TreeFile>& files, std::string_view subject) {
  std::sort(files.begin(), files.end(), [](const TreeFile& a, const TreeFile& b) { return a.path < b.path; });
  const auto has = [&](std::string_view path) {
    const auto at = std::lower_bound(files.begin(), files.end(), path,
                                     [](const TreeFile& file, std::string_view p) { return file.path < p; });
    return at != files.end() && at->path == path;
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& path = files[i].path;
    if (i > 0 && files[i - 1].path == path) malformed(subject, in_quotes(path) + " stands twice");
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      if (has(std::string_view(path).substr(0, slash)))
        malformed(subject, in_quotes(path.substr(0, slash)) + " is both a file and a folder");
  }
}

Error refusal(int status, std::string_view code, std::string_view message, std::string_view subject,
              bool with_token) {
  const auto error = [&](ErrorKind kind, std::string_view text) {
    std::string out = std::string(subject) + ": " + std::string(text);
    if (!message.empty()) out += " (" + escaped(message) + ")";
    return Error(kind, out);
  };
  for (const Refusal& row : kByCode)
    if (row.code == code) return error(row.kind, row.text);
  if (status == 401 && with_token) return error(ErrorKind::denied, "the token is not accepted (HTTP 401)");
  if (status == 401) return error(ErrorKind::denied, "does not exist, or needs a token (HTTP 401)");
  if (status == 403) return error(ErrorKind::denied, "access is forbidden (HTTP 403)");
  if (status == 404 || status == 410)
    return error(ErrorKind::not_found, "not found (HTTP " + std::to_string(status) + ")");
  if (status == 429)
    return error(ErrorKind::network, "the server asks to wait longer than is reasonable (HTTP 429)");
  return error(ErrorKind::network, "the server answers HTTP " + std::to_string(status));
}

}  // namespace hf::cache
