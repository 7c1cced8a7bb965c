#include "cache/hub/repo.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/escape.h"
#include "base/path_rules.h"

namespace hf::cache {
namespace {

constexpr std::string_view kTypes[] = {"model", "dataset", "space", "kernel"};  // by RepoType

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.');
}

// What is wrong with one part of an id; nullptr where nothing is.
const char* fault_of(std::string_view part) {
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  if (part.empty() || part.size() > 96) return "each part has 1 to 96 characters";
  if (!std::all_of(part.begin(), part.end(), is_word))
    return "letters, digits, \"-\", \"_\" and \".\" are allowed";
  if (is_edge(part.front()) || is_edge(part.back()))
    return "a part does not begin or end with \"-\" or \".\"";
  if (part.find("--") != part.npos || part.find("..") != part.npos)
    return "\"--\" and \"..\" are not allowed";
  if (part.ends_with(".git")) return "it does not end in \".git\"";
  return nullptr;
}

const char* fault_of_id(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) return fault_of(id);
  const char* fault = fault_of(id.substr(0, slash));
  return fault != nullptr ? fault : fault_of(id.substr(slash + 1));
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

RepoType repo_type_of(std::string_view name) {
  for (const RepoType type : {RepoType::model, RepoType::dataset, RepoType::space})
    if (name_of(type) == name) return type;
  throw Error(ErrorKind::usage,
              "repository type " + in_quotes(name) + ": model, dataset or space is expected");
}

RepoType cached_repo_type_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i] == name) return static_cast<RepoType>(i);
  throw Error(ErrorKind::usage,
              "repository type " + in_quotes(name) + ": model, dataset, space or kernel is expected");
}

std::string_view name_of(RepoType type) { return kTypes[static_cast<std::size_t>(type)]; }

void check_repo(const Repo& repo) {
  if (const char* fault = fault_of_id(repo.id))
    throw Error(ErrorKind::usage, "repository id " + in_quotes(repo.id) + ": " + fault);
}

void check_revision(std::string_view revision) {
  try {
    check_relative_path(revision);
  } catch (const Error&) {
    throw Error(ErrorKind::usage,
                "revision " + in_quotes(revision) +
                    ": is no name, a branch, a tag or a commit of 40 hex digits is expected");
  }
}

bool is_commit(std::string_view text) { return text.size() == 40 && is_hex(text); }
bool is_etag(std::string_view text) { return (text.size() == 40 || text.size() == 64) && is_hex(text); }

std::string folder_name(const Repo& repo) {
  std::string name(name_of(repo.type));
  name += "s--" + repo.id;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  return name;
}

bool parse_folder_name(std::string_view folder, Repo& repo) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    const std::string prefix = std::string(kTypes[i]) + "s--";
    if (!folder.starts_with(prefix)) continue;
    std::string id(folder.substr(prefix.size()));
    if (const std::size_t dashes = id.find("--"); dashes != std::string::npos) id.replace(dashes, 2, "/");
    if (fault_of_id(id) != nullptr) return false;
    repo = {std::move(id), static_cast<RepoType>(i)};
    return true;
  }
  return false;
}

}  // namespace hf::cache
