// What was noted in a folder that files were downloaded into (--local-dir), by huggingface_hub or hfcache.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/hub/answers.h"

namespace hf::cache {

inline constexpr std::string_view kNotesFolder = ".cache/huggingface";

struct NotedFile {
  std::string commit, etag;
  double time = 0;  // when, in seconds since 1970; a file that is younger was changed since
};

struct FolderNotes {
  std::map<std::string, NotedFile> files;                      // by path
  std::map<std::string, std::vector<TreeFile>> trees;          // by commit, sorted by path
  std::vector<std::pair<std::string, std::string>> malformed;  // path of a note or a list, and why
};

// Without a change of access times. All empty where the folder has no notes.
FolderNotes read_folder_notes(const std::filesystem::path& folder);

// "<commit>\n<etag>\n<time>\n"; Error{integrity} for anything else.
NotedFile parse_noted_file(std::string_view text, std::string_view subject);

}  // namespace hf::cache
