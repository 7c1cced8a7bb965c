#include "cache/store/rm.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"

namespace hf::cache {
namespace {

constexpr std::size_t kFewestDigits = 7;

bool is_commit_prefix(std::string_view text) {
  return text.size() >= kFewestDigits && text.size() <= 40 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

class Rm {
 public:
  Rm(const CacheContents& contents, const RmRequest& request)
      : contents_(contents), request_(request), planner_(contents, FileTime::max()) {}

  RemovalPlan plan() {
    if (request_.revision && request_.targets.size() != 1)
      throw Error(ErrorKind::usage, "--revision: is of one repository, " +
                                        std::to_string(request_.targets.size()) + " are named");
    for (const std::string& target : request_.targets) {
      if (const auto repo = find_repo(target, request_.type.value_or(RepoType::model)))
        request_.revision ? add_revision_of(*repo, *request_.revision) : add_repo(*repo);
      else if (request_.revision || !add_commit(target))
        missing_.push_back(in_quotes(target) + hint(target));
    }
    if (!missing_.empty()) throw Error(ErrorKind::not_found, joined(missing_) + ": not in the cache");
    return planner_.plan();
  }

 private:
  struct Place {
    std::size_t repo, revision;
  };

  std::optional<std::size_t> find_repo(const std::string& id, RepoType type) const {
    for (std::size_t i = 0; i < contents_.repos.size(); ++i)
      if (contents_.repos[i].repo == Repo{id, type}) return i;
    return std::nullopt;
  }

  // That there is one of another type.
  std::string hint(const std::string& id) const {
    for (const CachedRepo& repo : contents_.repos)
      if (repo.repo.id == id)
        return " (there is a " + std::string(name_of(repo.repo.type)) + " of that name: --repo-type)";
    return {};
  }

  std::vector<Place> revisions_from(const std::string& prefix, std::optional<std::size_t> only) const {
    std::vector<Place> found;
    for (std::size_t i = 0; i < contents_.repos.size(); ++i)
      for (std::size_t k = 0; k < contents_.repos[i].revisions.size(); ++k)
        if (contents_.repos[i].revisions[k].commit.starts_with(prefix) &&
            (only ? *only == i : !request_.type || contents_.repos[i].repo.type == *request_.type))
          found.push_back({i, k});
    return found;
  }

  bool add_commit(const std::string& target) {
    if (!is_commit_prefix(target)) return false;
    const std::vector<Place> found = revisions_from(target, std::nullopt);
    if (found.size() > 1) {
      std::vector<std::string> all;
      for (const Place& at : found)
        all.push_back(escaped(contents_.repos[at.repo].repo.id) + " " +
                      contents_.repos[at.repo].revisions[at.revision].commit);
      throw Error(ErrorKind::usage, "commit " + target + ": may be " + joined(all));
    }
    if (found.size() == 1) add_revision(found[0]);
    return found.size() == 1;
  }

  void add_revision(const Place& at) {
    if (!planner_.has_revision(at.repo, at.revision)) planner_.add_revision(at.repo, at.revision);
  }

  void add_revision_of(std::size_t repo, const std::string& name) {
    const std::vector<CachedRevision>& revisions = contents_.repos[repo].revisions;
    for (std::size_t i = 0; i < revisions.size(); ++i) {
      const std::vector<std::string>& refs = revisions[i].refs;
      if (std::find(refs.begin(), refs.end(), name) == refs.end()) continue;
      return refs.size() == 1 ? add_revision({repo, i}) : planner_.add_ref(repo, name);
    }
    const std::vector<Place> found =
        is_commit_prefix(name) ? revisions_from(name, repo) : std::vector<Place>();
    if (found.size() > 1) throw Error(ErrorKind::usage, "commit " + name + ": is the beginning of several");
    if (found.empty())
      missing_.push_back("revision " + in_quotes(name) + " of " + escaped(contents_.repos[repo].repo.id));
    else
      add_revision(found[0]);
  }

  void add_repo(std::size_t repo) {
    if (std::find(whole_.begin(), whole_.end(), repo) != whole_.end()) return;
    whole_.push_back(repo);
    planner_.add_folders(repo);  // first: then blobs go with it whatever links to them
    const CachedRepo& scanned = contents_.repos[repo];
    for (std::size_t i = 0; i < scanned.revisions.size(); ++i) add_revision({repo, i});
    planner_.add_orphans(repo);
    for (std::size_t i = 0; i < scanned.remnants.size(); ++i) planner_.add_remnant(repo, i);
  }

  const CacheContents& contents_;
  const RmRequest& request_;
  RemovalPlanner planner_;
  std::vector<std::size_t> whole_;
  std::vector<std::string> missing_;
};

}  // namespace

RemovalPlan plan_rm(const CacheContents& contents, const RmRequest& request) {
  return Rm(contents, request).plan();
}

}  // namespace hf::cache
