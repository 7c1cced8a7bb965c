// The store that repositories of one cache share, as huggingface_hub 1.33 and later keep it for Xet files:
//
//   <root>/blobs/.huggingface-shared-blobs    "1\n": without this marker the folder is a stranger's
//                <xx>/<xet hash>              the content; a repository's blobs/<etag> is a relative link to
//                it <xx>/<xet hash>.refs         those links, one a line: "models--org--name/blobs/<etag>"
//                <xx>/<xet hash>.lock         flock'ed by whoever adds or removes a link or the content
//
// The list is a hint: a line counts when the link is there and leads here. A content without a list stays.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/folder.h"

namespace hf::cache {

struct SharedBlob {
  std::string name;  // 64 hex digits
  EntryInfo info;
  bool has_list = false;
};

bool has_shared_store(const Folder& root);

std::vector<SharedBlob> shared_blobs(const Folder& root);  // sorted by name; none without the marker

// Removes the content when its list has no link that is there, else writes the list anew without the others.
// The bytes that it freed; 0 also when the content is in use, has no list or is none. Error{io}.
std::uint64_t sweep_shared_blob(const std::filesystem::path& root, const std::string& name);

// The name in the store that a link of <repository>/blobs leads to by its text alone; empty where to
// elsewhere.
std::string shared_name(std::string_view link_target, const std::filesystem::path& root);

}  // namespace hf::cache
