// Takes things out of a cache while other programs use it. In this order, so that nothing that is there ever
// stands for something that is not, wherever the work is broken off: refs; snapshots, each in one step; then
// blobs, under the locks that downloads take and after another look at every link; last what the cache
// shares, by its own rules.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/store/removal_plan.h"

namespace hf::cache {

struct RemovalReport {
  std::uint64_t bytes = 0;  // freed
  std::uint64_t revisions = 0, blobs = 0, remnants = 0;
  std::vector<std::string> kept;      // what was to go and is in use or needed again, and why
  std::vector<std::string> failures;  // what could not be removed, and why
};

// A process downloads into the repository: one of its locks is taken.
bool is_in_use(const Store& store, const Repo& repo);

// Blobs that changed after `newest` stay, as in the plan: one may have come since.
RemovalReport remove(const Store& store, const RemovalPlan& plan, FileTime newest);

}  // namespace hf::cache
