#include "cache/store/tree_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/file.h"
#include "base/json_guard.h"
#include "base/path_rules.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

TreeFile parse_entry(const std::string& path, const nlohmann::json& entry) {
  TreeFile file;
  file.path = path;
  check_relative_path(path);
  file.size = entry.at("size").get<std::uint64_t>();
  file.git_oid = entry.at("blob_id").get<std::string>();
  if (const auto lfs = entry.find("lfs_sha256"); lfs != entry.end() && lfs->is_string()) {
    file.sha256 = lfs->get<std::string>();
    file.size = entry.at("lfs_size").get<std::uint64_t>();
  }
  if (const auto xet = entry.find("xet_hash"); xet != entry.end() && xet->is_string())
    file.xet_hash = xet->get<std::string>();
  return file;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// Written out by hand: an object of nlohmann's that keeps the order of its members looks through all of them
// for each new one, and a revision may have hundreds of thousands of files.
std::string tree_json(const std::vector<TreeFile>& files) {
  std::string text = "{\n \"format_version\": 1,\n \"files\": {";
  const char* before = "\n";
  for (const TreeFile& file : files) {
    if (!file.fault.empty()) continue;  // nothing here can stand under that name
    const std::string size = std::to_string(file.size);
    text += before + ("  " + quoted(file.path)) + ": {\n   \"size\": " + size;
    text += ",\n   \"blob_id\": " + quoted(file.git_oid);
    if (!file.sha256.empty())
      text += ",\n   \"lfs_sha256\": " + quoted(file.sha256) + ",\n   \"lfs_size\": " + size;
    // huggingface_hub drops the whole list for one hash that is not one, and some servers mask them.
    if (file.xet_hash.size() == 64 && is_etag(file.xet_hash))
      text += ",\n   \"xet_hash\": " + quoted(file.xet_hash);
    text += "\n  }";
    before = ",\n";
  }
  const bool is_empty = before[0] == '\n';
  return text + (is_empty ? "}\n}" : "\n }\n}");
}

const TreeFile* find_path(const std::vector<TreeFile>& files, std::string_view path) {
  const auto found = std::lower_bound(files.begin(), files.end(), path,
                                      [](const TreeFile& file, std::string_view p) { return file.path < p; });
  return found == files.end() || found->path != path ? nullptr : &*found;
}

std::vector<TreeFile> parse_tree_json(std::string_view text, std::string_view subject) {
  const nlohmann::json tree = parse_json(text, subject);
  std::vector<TreeFile> files;
  try {
    if (tree.at("format_version") != 1)
      throw Error(ErrorKind::integrity, std::string(subject) + ": format_version is not 1");
    for (const auto& [path, entry] : tree.at("files").items()) files.push_back(parse_entry(path, entry));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::integrity, std::string(subject) + ": is no list of a revision's files");
  }
  for (const TreeFile& file : files)
    if (!is_etag(file.etag()))
      throw Error(ErrorKind::integrity,
                  std::string(subject) + ", " + in_quotes(file.path) + ": its hash is no hash");
  check_tree(files, subject);
  return files;
}

bool is_tree_file(const std::filesystem::path& path, const std::vector<TreeFile>& files) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  try {
    const std::string text = read_text(path, 1u << 30);
    if (text != tree_json(files)) parse_tree_json(text, shown(path));  // as another client writes it
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace hf::cache
