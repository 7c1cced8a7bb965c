#include "cache/store/prune.h"

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/quantity.h"
#include "tools/hfcache/removal.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

struct PruneOptions : RemovalOptions {
  std::string older_than, keep_size, grace = "1h";
  bool all = false;
};

std::chrono::seconds age_of(const std::string& option, const std::string& text) {
  const auto age = parse_duration(text);
  if (!age) throw Error(ErrorKind::usage, option + ": an age like 12h, 30d or 2w is expected");
  return *age;
}

PruneRules rules_of(const PruneOptions& options) {
  PruneRules rules;
  rules.grace = age_of("--grace", options.grace);
  if (!options.older_than.empty()) rules.older_than = age_of("--older-than", options.older_than);
  if (options.all && !rules.older_than)
    throw Error(ErrorKind::usage, "--all: --older-than is expected with it");
  rules.with_referenced = options.all;
  if (options.keep_size.empty()) return rules;
  rules.keep_bytes = parse_bytes(options.keep_size);
  if (!rules.keep_bytes)
    throw Error(ErrorKind::usage, "--keep-size: an amount like 500MB or 50GB is expected");
  return rules;
}

int run_prune(const PruneOptions& options) {
  const PruneRules rules = rules_of(options);
  const Store store = cache_of(options);
  const CacheContents contents = contents_of(store);
  const RemovalPlan plan = plan_prune(contents, rules);
  if (!is_confirmed(options, plan)) return 0;
  const RemovalReport report = carry_out(options, store, plan, rules.now - rules.grace);
  const std::uint64_t left =
      contents.bytes - std::min(contents.bytes, options.dry_run ? plan.bytes : report.bytes);
  if (!options.quiet && rules.keep_bytes && left > *rules.keep_bytes)
    std::fprintf(stderr, "the cache %s %s: what is left is in use or was put there less than %s ago\n",
                 options.dry_run ? "would take" : "takes", human_size(left).c_str(), options.grace.c_str());
  return 0;
}

constexpr const char* kDetail =
    "Removes revisions that no branch or tag stands for, blobs that no revision has, shared contents that no "
    "repository has, and what killed downloads left. Other programs may use the cache meanwhile: what is "
    "locked, or "
    "was put there or changed within the last hour, stays; so do other programs' partial files within a "
    "day.\n\n"
    "--older-than takes only revisions that were not used for so long, with --all also those that a branch "
    "or tag "
    "stands for. --keep-size then removes the revisions that were not used for longest, branches and tags "
    "with them, "
    "until the cache takes at most so much. When a content was used is what the file system kept of it: "
    "nothing where "
    "it is mounted with noatime.\n\n"
    "JSON: bytes that were freed, or would be, and what was to go by repository: revisions with their refs, "
    "blobs, "
    "unfinished downloads, leftovers; what stayed, and why, under \"kept\".";

}  // namespace

Command prune_command() {
  const auto o = std::make_shared<PruneOptions>();
  return {.name = "prune",
          .about = "Remove what nobody needs from the cache",
          .detail = kDetail,
          .examples = {"hfcache prune --dry-run", "hfcache prune --older-than 30d",
                       "hfcache prune --older-than 6mo --all", "hfcache prune --keep-size 500GB --yes"},
          .exits = exits_of({0, 2, 3, 8, 130}),
          .arguments = joined(
              {{option("--older-than", "AGE", o->older_than, "Only revisions not used for so long: 30d"),
                flag("--all", o->all, "With --older-than: also those that a branch or tag stands for"),
                option("--keep-size", "SIZE", o->keep_size,
                       "Then the least recently used ones until the cache takes at most so much: 50GB"),
                option("--grace", "AGE", o->grace,
                       "What was put there since then stays: downloads may not have linked it yet")},
               removal_rows(*o)}),
          .run = [o] { return run_prune(*o); }};
}

}  // namespace hf::cache
