#include "cache/store/folder_notes.h"

#include "base/error.h"
#include "base/path_rules.h"
#include "cache/hub/repo.h"
#include "cache/store/content_reader.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/tree_file.h"

namespace hf::cache {

FolderNotes read_folder_notes(const std::filesystem::path& folder) {
  FolderNotes notes;
  const std::filesystem::path home = folder / kNotesFolder;
  const std::string shown = std::string(kNotesFolder) + "/";
  constexpr std::string_view kSuffix = ".metadata";
  for (const std::string& name : list_below(home / "download").files) {
    if (!name.ends_with(kSuffix)) continue;
    const std::string path = name.substr(0, name.size() - kSuffix.size());
    try {
      check_relative_path(path);
      const auto noted = parse_metadata(read_quietly(home / "download" / name, 4096));
      if (!noted || !is_commit(noted->commit))
        throw Error(ErrorKind::integrity, "is no commit, hash and time of a download");
      notes.files[path] = *noted;
    } catch (const Error& error) {
      notes.malformed.emplace_back(shown + "download/" + name, error.what());
    }
  }
  for (const std::string& name : names_in(home / "trees")) {
    const std::string commit = name.substr(0, 40);
    if (!is_commit(commit) || name != commit + ".json") continue;
    try {
      notes.trees[commit] = parse_tree_json(read_quietly(home / "trees" / name, 1u << 30), "trees/" + name);
    } catch (const Error& error) {
      notes.malformed.emplace_back(shown + "trees/" + name, error.what());
    }
  }
  return notes;
}

}  // namespace hf::cache
