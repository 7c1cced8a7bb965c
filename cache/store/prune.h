// Which parts of a cache nobody needs.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "cache/store/removal_plan.h"

namespace hf::cache {

struct PruneRules {
  FileTime now = std::chrono::system_clock::now();
  // What was put there or changed since stays: a download may be about to link it, or to write its ref.
  std::chrono::seconds grace = std::chrono::hours(1);
  // The same for what other programs leave: partial files and temporary names, which tell nothing of their
  // owner.
  std::chrono::seconds foreign_grace = std::chrono::hours(24);
  // Only revisions that were not used for so long.
  std::optional<std::chrono::seconds> older_than;
  bool with_referenced = false;  // with older_than: those too that a ref stands for
  // Then the revisions that were not used for longest, with their refs, until the cache takes at most so
  // much.
  std::optional<std::uint64_t> keep_bytes;
};

// Revisions that no ref stands for, blobs that no snapshot has, shared contents that no repository has, what
// killed programs left; and what older_than and keep_bytes ask for.
RemovalPlan plan_prune(const CacheContents& contents, const PruneRules& rules);

}  // namespace hf::cache
