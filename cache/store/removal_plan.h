// What is to go from a cache, decided on what a scan found and before anything is touched. prune.h and rm.h
// make such plans, remove() of remove.h carries one out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cache/store/scan.h"

namespace hf::cache {

// Of one repository; all numbers are positions in the lists of the scanned one. Ascending.
struct RepoRemoval {
  const CachedRepo* repo = nullptr;
  std::vector<std::size_t> revisions;  // with all refs that stand for them
  std::vector<std::string> refs;       // of revisions that stay
  std::vector<std::size_t> blobs;      // that no snapshot has, or none once the revisions are gone
  std::vector<std::size_t> remnants;
  bool is_whole = false;  // its folders too, once they are empty
};

struct RemovalPlan {
  std::vector<RepoRemoval> repos;  // in the scan's order, none with nothing to do
  std::vector<SharedBlob> shared;  // that no repository has a link to
  std::uint64_t bytes = 0;         // that it will free when nothing is in use

  bool is_empty() const { return repos.empty() && shared.empty(); }
};

// Adds up what goes and what it frees: a blob goes with the last revision that has it, a shared content with
// the last repository. `contents` must outlive the plan.
class RemovalPlanner {
 public:
  // Blobs that changed after `newest` stay.
  RemovalPlanner(const CacheContents& contents, FileTime newest);

  void add_revision(std::size_t repo, std::size_t revision);
  void add_ref(std::size_t repo, const std::string& name) { of(repo).refs.push_back(name); }
  void add_orphans(std::size_t repo);  // blobs that no snapshot has
  void add_remnant(std::size_t repo, std::size_t remnant);
  void add_unused_shared();
  void add_folders(std::size_t repo) { of(repo).is_whole = true; }

  bool has_revision(std::size_t repo, std::size_t revision) const;
  bool has_all(std::size_t repo) const;  // all that the scan found in the repository's folder
  // The last use of what would go with the revision; of all its contents when nothing would.
  FileTime last_used_alone(std::size_t repo, std::size_t revision) const;
  std::uint64_t bytes() const { return bytes_; }
  RemovalPlan plan() const;

 private:
  RepoRemoval& of(std::size_t repo) { return removals_[repo]; }
  void drop(std::size_t repo, std::size_t content);

  const CacheContents& contents_;
  FileTime newest_;
  std::vector<RepoRemoval> removals_;
  std::vector<std::vector<std::size_t>> uses_;  // by repository and content: revisions that stay
  std::map<std::string, std::size_t> links_;    // by shared content: blobs that stay
  std::map<std::string, const SharedBlob*> shared_;
  std::vector<SharedBlob> unused_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hf::cache
