// One revision of a repository from the Hub to where it is wanted: first a plan, then its execution.
#pragma once
#include <filesystem>

#include "cache/mirror/events.h"
#include "cache/mirror/plan.h"

namespace hf::cache {

// Fetches, checks, names and, when all is there, writes the ref. What was finished before an Error stays; the
// next run goes on from there. When several files fail, the Error is of the first one's kind and names all.
// Before the first byte: Error{integrity} of names that cannot stand, Error{io} of a disk that cannot take it
// all. Several downloads may follow each other on one client: its connections are kept.
DownloadReport download(const Hub& hub, Target& target, const DownloadRequest& request,
                        const DownloadPlan& plan, DownloadEvents& events);

// Without a network: the snapshot's folder if all selected files are in it, as far as the cache's own list of
// the revision tells; else Error{not_found} that names the first ones missing.
std::filesystem::path find_downloaded(const Store& store, const DownloadRequest& request);

}  // namespace hf::cache
