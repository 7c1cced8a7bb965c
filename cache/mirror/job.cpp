#include "cache/mirror/job.h"

#include <string_view>
#include <unordered_map>

namespace hf::cache {

std::vector<Job> jobs_of(const DownloadPlan& plan) {
  std::vector<Job> jobs;
  std::unordered_map<std::string_view, std::size_t> by_etag;
  for (const PlannedFile& planned : plan.files) {
    if (planned.state != FileState::missing) continue;
    const auto [at, is_new] = by_etag.try_emplace(planned.file.etag(), jobs.size());
    if (is_new) jobs.push_back({{}, planned.resumable_bytes});
    jobs[at->second].links.push_back(&planned.file);
  }
  return jobs;
}

}  // namespace hf::cache
