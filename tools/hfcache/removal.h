// What prune and rm have in common: show a plan, ask, carry it out, say what was freed.
#pragma once
#include "cache/store/remove.h"
#include "tools/hfcache/commands.h"

namespace hf::cache {

struct RemovalOptions : CommonOptions {
  bool dry_run = false, yes = false;
};
std::vector<Argument> removal_rows(RemovalOptions& options);  // --dry-run, --yes and the common ones

// Whether to go on: asks on a terminal only, where neither --yes nor --json was given.
bool is_confirmed(const RemovalOptions& options, const RemovalPlan& plan);

// Prints the plan and, unless it is a dry run, carries it out. What stays all the same is told on standard
// error. Error{io} when something could not be removed.
RemovalReport carry_out(const RemovalOptions& options, const Store& store, const RemovalPlan& plan,
                        FileTime newest);

}  // namespace hf::cache
