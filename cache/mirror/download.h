// One revision of a repository from the Hub to where it is wanted: first a plan, then its execution.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/hub/hub.h"
#include "cache/mirror/events.h"
#include "cache/mirror/selection.h"
#include "cache/mirror/target.h"
#include "cache/mirror/timings.h"
#include "cache/store/store.h"

namespace hf::cache {

struct DownloadRequest {
  Repo repo;
  std::string revision = "main";
  std::optional<std::string> ref = std::nullopt;  // another name for it in the cache; a commit has none else
  std::optional<std::filesystem::path> local_dir = std::nullopt;  // instead of the cache
  Selection selection = {};
  bool force = false;                    // fetch also what is there
  unsigned workers = 0;                  // connections at a time; 0: by what the server takes
  std::uint64_t large_bytes = 1u << 20;  // from so many on a file has a journal, to go on with later
  std::uint64_t block_bytes = 1u << 20;  // of such a file, the steps of its journal
  Timings timings = {};
};

struct PlannedFile {
  TreeFile file;
  FileState state = FileState::missing;
  std::uint64_t resumable_bytes = 0;  // that a partial file of an earlier run speaks of
};

struct DownloadPlan {
  std::string commit;
  std::vector<TreeFile> tree;  // all files of the revision; empty where only the named ones were asked about
  std::vector<PlannedFile> files;  // the selected ones, sorted by path
  std::uint64_t api_requests = 0;  // that it took

  std::uint64_t total_bytes() const;
  std::uint64_t bytes_to_fetch() const;  // content that stands under two paths counts once
};

// Asks for the revision's commit, unless it is one, and for its files: a request for each 1,000, or a single
// one for up to 50 named files.
DownloadPlan plan_download(const Hub& hub, const Store& store, const DownloadRequest& request);

// Where the files of a plan go.
std::unique_ptr<Target> make_target(const Store& store, const DownloadRequest& request,
                                    const DownloadPlan& plan);

// Fetches, checks, names and, when all is there, writes the ref. What was finished before an Error stays; the
// next run goes on from there. When several files fail, the Error is of the first one's kind and names all.
// Error{io} before the first byte when the disk has no room. Several downloads may follow each other on one
// client: its connections are kept.
DownloadReport download(const Hub& hub, Target& target, const DownloadRequest& request,
                        const DownloadPlan& plan, DownloadEvents& events);

// Without a network: the snapshot's folder if all selected files are in it, as far as the cache's own list of
// the revision tells; else Error{not_found} that names the first ones missing.
std::filesystem::path find_downloaded(const Store& store, const DownloadRequest& request);

}  // namespace hf::cache
