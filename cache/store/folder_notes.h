// What was noted in a folder that files were downloaded into (--local-dir), by huggingface_hub or hfcache.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/hub/answers.h"
#include "cache/mirror/local_metadata.h"

namespace hf::cache {

inline constexpr std::string_view kNotesFolder = ".cache/huggingface";

struct FolderNotes {
  std::map<std::string, LocalMetadata> files;                  // by path
  std::map<std::string, std::vector<TreeFile>> trees;          // by commit, sorted by path
  std::vector<std::pair<std::string, std::string>> malformed;  // path of a note or a list, and why
};

// Without a change of access times. All empty where the folder has no notes.
FolderNotes read_folder_notes(const std::filesystem::path& folder);

}  // namespace hf::cache
