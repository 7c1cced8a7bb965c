#include "cache/store/rm.h"

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/escape.h"
#include "tools/hfcache/removal.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct RmOptions : RemovalOptions {
  std::vector<std::string> targets;
  std::string repo_type, revision;
};

// Better nothing than half of it while a download goes on.
void check_unused(const Store& store, const RemovalPlan& plan) {
  for (const RepoRemoval& removal : plan.repos)
    if (is_in_use(store, removal.repo->repo))
      throw Error(ErrorKind::io,
                  escaped(removal.repo->repo.id) + ": a download into it is going on, nothing was removed");
}

int run_rm(const RmOptions& options) {
  RmRequest request{options.targets, std::nullopt, std::nullopt};
  if (!options.repo_type.empty()) request.type = cached_repo_type_of(options.repo_type);
  if (!options.revision.empty()) request.revision = options.revision;
  const Store store = cache_of(options);
  const CacheContents contents = contents_of(store);
  const RemovalPlan plan = plan_rm(contents, request);
  if (!options.dry_run) check_unused(store, plan);
  if (!is_confirmed(options, plan)) return 0;
  const RemovalReport report = carry_out(options, store, plan, FileTime::max());
  return report.kept.empty() ? 0 : exit_code(ErrorKind::io);
}

constexpr const char* kDetail =
    "A repository goes with all its revisions, a commit (7 digits or more, as `hfcache ls --revisions` shows "
    "them) with "
    "the branches and tags that stand for it. --revision BRANCH removes the branch or tag, and the revision "
    "when it was "
    "the last one that stood for it. Blobs that other revisions have stay.";

}  // namespace

Command rm_command() {
  const auto o = std::make_shared<RmOptions>();
  return {.name = "rm",
          .about = "Remove repositories or revisions from the cache",
          .detail = kDetail,
          .examples = {"hfcache rm openai-community/gpt2", "hfcache rm openai-community/gpt2 --revision v1.0",
                       "hfcache rm squad --repo-type dataset --dry-run", "hfcache rm 607a30d783df"},
          .exits = exits_of({0, 2, 3, 8, 130}),
          .arguments =
              joined({{positional("TARGET", o->targets, "Repositories' ids, or commits")
                           .must()
                           .completed_as(Completes::repo),
                       option("--repo-type", "TYPE", o->repo_type, "Type of the repositories")
                           .of({"model", "dataset", "space", "kernel"})
                           .shown_default("model"),
                       option("--revision", "R", o->revision, "Branch, tag or commit of the one repository")},
                      removal_rows(*o)}),
          .run = [o] { return run_rm(*o); }};
}

}  // namespace hf::cache
