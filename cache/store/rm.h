// Which parts of a cache are meant by a name on the command line of rm.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cache/store/removal_plan.h"

namespace hf::cache {

struct RmRequest {
  // Each a repository's id, or the first 7 or more digits of a commit.
  std::vector<std::string> targets;
  std::optional<RepoType> type;         // none: the model's; all types for a commit
  std::optional<std::string> revision;  // of the one target: a branch or tag, or a commit
};

// A repository with all that stands in its folder, or a revision and what only it has. A revision that is
// named by one of several refs loses that ref alone. Error{not_found} names all that the cache does not have,
// Error{usage} a commit that is not one, or is that of several.
RemovalPlan plan_rm(const CacheContents& contents, const RmRequest& request);

}  // namespace hf::cache
