// One content of a download, and the paths of the revision that lead to it.
#pragma once
#include <cstdint>
#include <vector>

#include "cache/mirror/plan.h"

namespace hf::cache {

struct Job {
  std::vector<const TreeFile*> links = {};
  std::uint64_t resumable_bytes = 0;

  const TreeFile& file() const { return *links.front(); }
};

// The contents that are missing, in the order of the first path with each, so that failures are told in list
// order. They point into the plan.
std::vector<Job> jobs_of(const DownloadPlan& plan);

}  // namespace hf::cache
