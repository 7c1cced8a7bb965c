// What is in a folder, listed without a change of its access time.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hf::cache {

struct FolderListing {
  std::vector<std::string> files;  // relative paths of all that is no folder, links to folders too; sorted
  std::vector<std::pair<std::string, std::string>> unreadable;  // folders, and why
};

// All below `folder`; nothing where it does not exist. Links are not followed, except `folder` itself.
FolderListing list_below(const std::filesystem::path& folder);

// The names directly in `folder`, sorted. Nothing where it does not exist; Error{io} when it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace hf::cache
