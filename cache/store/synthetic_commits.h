// Revisions that no Hub has: taken over from a folder of which nothing tells its commit. They are called by a
// hash of what they hold, and noted beside the lock files, where no client looks:
//
//   .locks/<repository's folder>/synthetic     a commit a line
#pragma once
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "cache/hub/answers.h"
#include "cache/store/store.h"

namespace hf::cache {

// Git's blob sha1 of "<path>\0<etag>\n" for each file, by path: the same content has the same name
// everywhere.
std::string synthetic_commit(std::span<const TreeFile> files);

std::set<std::string, std::less<>> synthetic_commits(const Store& store, const Repo& repo);
void note_synthetic_commit(const Store& store, const Repo& repo, std::string_view commit);  // durable

}  // namespace hf::cache
