#include "cache/store/folder_notes.h"

#include <charconv>

#include "base/error.h"
#include "base/path_rules.h"
#include "cache/hub/repo.h"
#include "cache/store/content_reader.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/tree_file.h"

namespace hf::cache {

NotedFile parse_noted_file(std::string_view text, std::string_view subject) {
  NotedFile noted;
  std::string_view lines[3];
  for (std::string_view& line : lines) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  noted.commit = lines[0];
  noted.etag = lines[1];
  const auto [end, code] = std::from_chars(lines[2].data(), lines[2].data() + lines[2].size(), noted.time);
  if (!is_commit(noted.commit) || !is_etag(noted.etag) || code != std::errc() ||
      end != lines[2].data() + lines[2].size())
    throw Error(ErrorKind::integrity, std::string(subject) + ": is no commit, hash and time of a download");
  return noted;
}

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
      notes.files[path] = parse_noted_file(read_quietly(home / "download" / name, 4096), "download/" + name);
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
