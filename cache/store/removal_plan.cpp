#include "cache/store/removal_plan.h"

#include <algorithm>

namespace hf::cache {

RemovalPlanner::RemovalPlanner(const CacheContents& contents, FileTime newest)
    : contents_(contents), newest_(newest), removals_(contents.repos.size()) {
  for (const SharedBlob& blob : contents.shared) shared_[blob.name] = &blob;
  for (std::size_t i = 0; i < contents.repos.size(); ++i) {
    const CachedRepo& repo = contents.repos[i];
    removals_[i].repo = &repo;
    std::vector<std::size_t>& uses = uses_.emplace_back(repo.contents.size());
    for (const CachedRevision& revision : repo.revisions)
      for (const std::size_t at : revision.contents) ++uses[at];
    for (const CachedContent& content : repo.contents)
      if (!content.shared.empty()) ++links_[content.shared];
  }
}

// The content of `repo` has lost its last revision, or never had one.
void RemovalPlanner::drop(std::size_t repo, std::size_t content) {
  const CachedContent& dropped = contents_.repos[repo].contents[content];
  if (dropped.is_blob()) {
    const bool is_sure = contents_.repos[repo].links_are_known || of(repo).is_whole;
    if (!is_sure || dropped.info.newest() > newest_) return;
    of(repo).blobs.push_back(content);
  }
  if (!dropped.is_inside()) return;
  if (dropped.shared.empty()) {
    bytes_ += dropped.info.bytes;
  } else if (--links_[dropped.shared] == 0) {
    const auto blob = shared_.find(dropped.shared);
    if (blob != shared_.end() && blob->second->has_list) bytes_ += dropped.info.bytes;
  }
}

void RemovalPlanner::add_revision(std::size_t repo, std::size_t revision) {
  of(repo).revisions.push_back(revision);
  for (const std::size_t at : contents_.repos[repo].revisions[revision].contents)
    if (--uses_[repo][at] == 0) drop(repo, at);
}

void RemovalPlanner::add_orphans(std::size_t repo) {
  const std::vector<CachedContent>& contents = contents_.repos[repo].contents;
  for (std::size_t at = 0; at < contents.size(); ++at)
    if (!contents[at].is_linked) drop(repo, at);
}

void RemovalPlanner::add_remnant(std::size_t repo, std::size_t remnant) {
  of(repo).remnants.push_back(remnant);
  const Remnant& added = contents_.repos[repo].remnants[remnant];
  if (added.info.kind == EntryKind::file) bytes_ += added.info.bytes;
}

void RemovalPlanner::add_unused_shared() {
  for (const SharedBlob& blob : contents_.shared) {
    const auto links = links_.find(blob.name);
    if (links != links_.end() || !blob.has_list || blob.info.newest() > newest_) continue;
    unused_.push_back(blob);
    bytes_ += blob.info.bytes;
  }
}

bool RemovalPlanner::has_revision(std::size_t repo, std::size_t revision) const {
  const std::vector<std::size_t>& revisions = removals_[repo].revisions;
  return std::find(revisions.begin(), revisions.end(), revision) != revisions.end();
}

bool RemovalPlanner::has_all(std::size_t repo) const {
  const CachedRepo& scanned = contents_.repos[repo];
  const RepoRemoval& removal = removals_[repo];
  const auto blobs = std::count_if(scanned.contents.begin(), scanned.contents.end(),
                                   [](const CachedContent& content) { return content.is_blob(); });
  return removal.revisions.size() == scanned.revisions.size() &&
         removal.blobs.size() == static_cast<std::size_t>(blobs) &&
         removal.remnants.size() == scanned.remnants.size();
}

FileTime RemovalPlanner::last_used_alone(std::size_t repo, std::size_t revision) const {
  const CachedRepo& scanned = contents_.repos[repo];
  FileTime newest;
  bool is_alone = false;
  for (const std::size_t at : scanned.revisions[revision].contents) {
    if (uses_[repo][at] > 1) continue;
    is_alone = true;
    newest = std::max(newest, scanned.contents[at].info.used);
  }
  return is_alone ? newest : scanned.revisions[revision].last_used;
}

RemovalPlan RemovalPlanner::plan() const {
  RemovalPlan made;
  made.shared = unused_;
  made.bytes = bytes_;
  for (RepoRemoval removal : removals_) {
    if (removal.revisions.empty() && removal.refs.empty() && removal.blobs.empty() &&
        removal.remnants.empty() && !removal.is_whole)
      continue;
    for (auto* list : {&removal.revisions, &removal.blobs, &removal.remnants})
      std::sort(list->begin(), list->end());
    made.repos.push_back(std::move(removal));
  }
  return made;
}

}  // namespace hf::cache
