// One revision of a repository from the Hub into the cache: first a plan, then its execution.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "cache/hub/hub.h"
#include "cache/mirror/selection.h"
#include "cache/mirror/target.h"
#include "cache/store/store.h"

namespace hf::cache {

struct DownloadRequest {
  Repo repo;
  std::string revision = "main";
  Selection selection = {};
  bool force = false;                    // fetch also what is there
  unsigned workers = 8;                  // files at a time
  std::uint64_t block_bytes = 8u << 20;  // how often a partial file's progress is made durable
};

struct PlannedFile {
  TreeFile file;
  FileState state = FileState::missing;
  std::uint64_t resumable_bytes = 0;  // that a partial file of an earlier run has
};

struct DownloadPlan {
  std::string commit;
  std::vector<TreeFile> tree;      // all files of the revision
  std::vector<PlannedFile> files;  // the selected ones, sorted by path

  std::uint64_t total_bytes() const;
  std::uint64_t bytes_to_fetch() const;  // content that stands under two paths counts once
};

// Asks for the revision's commit and files: two requests for up to 1,000 files.
DownloadPlan plan_download(const Hub& hub, const Store& store, const DownloadRequest& request);

// Fetches, checks, links and, when all is there, writes the ref. Returns the snapshot's folder. What was
// finished before an Error stays; the next run goes on from there. When several files fail, the Error is of
// the first one's kind and names all. Error{io} before the first byte when the disk has no room.
std::filesystem::path download(const Hub& hub, const Store& store, const DownloadRequest& request,
                               const DownloadPlan& plan, Progress& progress);

// Without a network: the snapshot's folder if all selected files are in it, as far as the cache's own list of
// the revision tells; else Error{not_found} that names the first ones missing.
std::filesystem::path find_downloaded(const Store& store, const DownloadRequest& request);

}  // namespace hf::cache
