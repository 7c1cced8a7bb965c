#include "cache/store/prune.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hf::cache {
namespace {

class Prune {
 public:
  Prune(const CacheContents& contents, const PruneRules& rules)
      : contents_(contents), rules_(rules), planner_(contents, rules.now - rules.grace) {}

  RemovalPlan plan() {
    for (std::size_t repo = 0; repo < contents_.repos.size(); ++repo) {
      add_revisions(repo);
      planner_.add_orphans(repo);
      add_remnants(repo);
    }
    planner_.add_unused_shared();
    if (rules_.keep_bytes) make_room();
    for (std::size_t repo = 0; repo < contents_.repos.size(); ++repo) add_folders(repo);
    return planner_.plan();
  }

 private:
  bool is_old(FileTime time, std::chrono::seconds age) const { return rules_.now - time >= age; }

  void add_revisions(std::size_t repo) {
    const std::vector<CachedRevision>& revisions = contents_.repos[repo].revisions;
    if (!contents_.repos[repo].refs_are_known) return;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < revisions.size(); ++i) {
      if (!is_old(revisions[i].touched, rules_.grace)) continue;
      if (!revisions[i].refs.empty() && !(rules_.with_referenced && rules_.older_than)) continue;
      if (rules_.older_than && !is_old(planner_.last_used_alone(repo, i), *rules_.older_than)) continue;
      chosen.push_back(i);
    }
    for (const std::size_t i : chosen) planner_.add_revision(repo, i);
  }

  void add_remnants(std::size_t repo) {
    const std::vector<Remnant>& remnants = contents_.repos[repo].remnants;
    for (std::size_t i = 0; i < remnants.size(); ++i) {
      const Remnant::Kind kind = remnants[i].kind;
      if (kind == Remnant::Kind::lone_ref) continue;
      const bool is_foreign = kind == Remnant::Kind::incomplete || kind == Remnant::Kind::temporary;
      if (is_old(remnants[i].info.newest(), is_foreign ? rules_.foreign_grace : rules_.grace))
        planner_.add_remnant(repo, i);
    }
  }

  void make_room() {
    struct Candidate {
      FileTime used;
      std::size_t repo, revision;
    };
    std::vector<Candidate> candidates;
    for (std::size_t repo = 0; repo < contents_.repos.size(); ++repo)
      for (std::size_t i = 0; i < contents_.repos[repo].revisions.size(); ++i)
        if (!planner_.has_revision(repo, i) && contents_.repos[repo].refs_are_known &&
            is_old(contents_.repos[repo].revisions[i].touched, rules_.grace))
          candidates.push_back({planner_.last_used_alone(repo, i), repo, i});
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.used, a.repo, a.revision) < std::tie(b.used, b.repo, b.revision);
    });
    for (const Candidate& candidate : candidates) {
      if (planner_.bytes() >= contents_.bytes || contents_.bytes - planner_.bytes() <= *rules_.keep_bytes)
        return;
      planner_.add_revision(candidate.repo, candidate.revision);
    }
  }

  void add_folders(std::size_t repo) {
    if (planner_.has_all(repo) && is_old(contents_.repos[repo].touched, rules_.grace))
      planner_.add_folders(repo);
  }

  const CacheContents& contents_;
  const PruneRules& rules_;
  RemovalPlanner planner_;
};

}  // namespace

RemovalPlan plan_prune(const CacheContents& contents, const PruneRules& rules) {
  return Prune(contents, rules).plan();
}

}  // namespace hf::cache
