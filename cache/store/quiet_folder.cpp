#include "cache/store/quiet_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/escape.h"
#include "cache/store/folder.h"

namespace hf::cache {

FolderListing list_below(const std::filesystem::path& folder) {
  FolderListing listing;
  std::vector<std::string> waiting = {""};
  while (!waiting.empty()) {
    const std::string prefix = std::move(waiting.back());
    waiting.pop_back();
    const bool is_top = prefix.empty();
    Folder opened(is_top ? folder.string() : (folder / prefix.substr(0, prefix.size() - 1)).string(),
                  is_top ? Folder::Links::follow : Folder::Links::refuse);
    for (const FolderEntry& entry : opened.entries()) {
      if (entry.kind == EntryKind::folder)
        waiting.push_back(prefix + entry.name + "/");
      else
        listing.files.push_back(prefix + entry.name);
    }
    if (opened.error() != 0 && !(is_top && opened.error() == ENOENT))
      listing.unreadable.emplace_back(prefix, std::strerror(opened.error()));
  }
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  Folder opened(folder.string(), Folder::Links::follow);
  std::vector<std::string> names;
  for (FolderEntry& entry : opened.entries()) names.push_back(std::move(entry.name));
  if (opened.error() != 0 && opened.error() != ENOENT)
    throw Error(ErrorKind::io, shown(folder) + ": " + std::strerror(opened.error()));
  return names;
}

}  // namespace hf::cache
