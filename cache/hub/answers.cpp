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

std::string fault_of_name(std::string_view path) {
  try {
    check_relative_path(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TreeFile parse_file(const json& entry, std::string_view subject) {
  TreeFile file;
  file.path = text_of(entry, "path", subject);
  file.fault = fault_of_name(file.path);
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

// What the Hub says, by its code, its message or the bare status; the first row that fits counts. Empty and 0
// fit all.
struct Refusal {
  std::string_view code, message;
  int status;
  ErrorKind kind;
  std::string_view text;
};
constexpr std::string_view kAbsent =
    "no such repository, or a private one, which needs a token that opens it";
constexpr Refusal kRefusals[] = {
    {"RevisionNotFound", "", 0, ErrorKind::not_found, "the repository has no such revision"},
    {"EntryNotFound", "", 0, ErrorKind::not_found, "the revision has no such file"},
    {"GatedRepo", "", 401, ErrorKind::denied,
     "the repository is gated: a token of a user who accepted its terms on the Hub is needed"},
    {"GatedRepo", "", 0, ErrorKind::denied,
     "the repository is gated: its terms must be accepted on the Hub by the user of the token"},
    {"", "Access to this resource is disabled.", 0, ErrorKind::denied, "the repository is disabled"},
    {"RepoNotFound", "", 0, ErrorKind::not_found, kAbsent},
    {"", "Invalid credentials in Authorization header", 401, ErrorKind::denied, "the token is not accepted"},
    {"", "Invalid user token.", 401, ErrorKind::denied, "the token is not accepted"},
    // The Hub hides private repositories behind it, and other servers mean just this by it.
    {"", "", 401, ErrorKind::denied, kAbsent},
    {"", "", 403, ErrorKind::denied, "access is forbidden"},
    {"", "", 404, ErrorKind::not_found, "not found"},
    {"", "", 407, ErrorKind::network, "the proxy asks for a user and a password"},
    {"", "", 410, ErrorKind::not_found, "not found"},
    {"", "", 416, ErrorKind::network, "the server does not have the bytes that were asked for"},
};

bool fits(const Refusal& row, const RefusedAnswer& answer) {
  return (row.code.empty() || row.code == answer.code) &&
         (row.message.empty() || row.message == answer.message) &&
         (row.status == 0 || row.status == answer.status);
}

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
  const auto same = std::adjacent_find(files.begin(), files.end(),
                                       [](const TreeFile& a, const TreeFile& b) { return a.path == b.path; });
  if (same != files.end()) malformed(subject, in_quotes(same->path) + " stands twice");
}

std::string parse_error_text(std::string_view text) {
  try {
    const json answer = parse_json(text, "refusal");
    const auto found = answer.is_object() ? answer.find("error") : answer.end();
    return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
  } catch (const Error&) {
    return "";  // a page for people, or nothing
  }
}

Error refusal(const RefusedAnswer& answer, std::string_view subject) {
  const std::string status = "HTTP " + std::to_string(answer.status);
  const auto error = [&](ErrorKind kind, std::string text) {
    text = std::string(subject) + ": " + text;
    if (!answer.message.empty()) text += " (" + escaped(answer.message) + ")";
    return Error(kind, text);
  };
  if (answer.status == 429)
    return error(ErrorKind::network,
                 "the server has had too many requests (" + status + ")" +
                     (answer.requested_wait
                          ? ", it asks to come back in " + std::to_string(*answer.requested_wait) + " s"
                          : ""));
  for (const Refusal& row : kRefusals)
    if (fits(row, answer)) return error(row.kind, std::string(row.text) + " (" + status + ")");
  return error(ErrorKind::network, "the server answers " + status);
}

}  // namespace hf::cache
