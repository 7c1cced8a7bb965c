// What must hold of a cache whatever happened.
#pragma once
#include <filesystem>
#include <string>

#include "campaign/runs.h"

namespace hf::test {

// Whatever stands under an etag is that content; a ref is the 40 digits of a commit whose snapshot is whole;
// no link leads to nowhere from a snapshot that a ref stands for.
void check_cache(const std::filesystem::path& repo_folder, Problems& problems);

// The snapshot has exactly the files of `source`, byte by byte.
void check_snapshot(const std::filesystem::path& source, const std::filesystem::path& snapshot,
                    Problems& problems);

// Nothing is left in blobs/ but blobs.
void check_nothing_left(const std::filesystem::path& repo_folder, Problems& problems);

}  // namespace hf::test
