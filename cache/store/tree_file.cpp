#include "cache/store/tree_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/escape.h"
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

}  // namespace

std::string tree_json(const std::vector<TreeFile>& files) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::object();
  for (const TreeFile& file : files) {
    if (!file.fault.empty()) continue;  // nothing here can stand under that name
    auto& entry = entries[file.path];
    entry["size"] = file.size;
    entry["blob_id"] = file.git_oid;
    if (!file.sha256.empty()) {
      entry["lfs_sha256"] = file.sha256;
      entry["lfs_size"] = file.size;
    }
    // huggingface_hub drops the whole list for one hash that is not one, and some servers mask them.
    if (file.xet_hash.size() == 64 && is_etag(file.xet_hash)) entry["xet_hash"] = file.xet_hash;
  }
  const nlohmann::ordered_json tree = {{"format_version", 1}, {"files", std::move(entries)}};
  return tree.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
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

}  // namespace hf::cache
