// One repository's folder of a cache, read.
#pragma once
#include "cache/store/folder.h"
#include "cache/store/scan.h"

namespace hf::cache {

// `name` is the folder's below `root`. `has_shared_store`: links into <root>/blobs are links into that store.
CachedRepo scan_repo(const Folder& root, const std::string& name, Repo repo,
                     const std::filesystem::path& path, bool has_shared_store);

// Files that operating systems put everywhere.
bool is_litter(std::string_view name);

}  // namespace hf::cache
