// What a download is asked for, and what it will do.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/hub/hub.h"
#include "cache/mirror/selection.h"
#include "cache/mirror/target.h"
#include "cache/mirror/timings.h"
#include "cache/store/store.h"

namespace hf::cache {

struct DownloadRequest {
  Repo repo;
  std::string revision = "main";
  // The name for it in the cache; nothing: the revision's own, none where that is a commit.
  std::optional<std::string> ref = std::nullopt;
  std::optional<std::filesystem::path> local_dir = std::nullopt;  // a folder of the user's, not the cache
  Selection selection = {};
  bool force = false;                    // fetch also what is there
  bool portable = false;                 // refuse names that other systems do not take
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
  // All files of the revision; nothing where only those named were asked about.
  std::optional<std::vector<TreeFile>> tree;
  std::vector<PlannedFile> files;  // the selected ones, sorted by path
  std::uint64_t api_requests = 0;  // that it took

  std::uint64_t total_bytes() const;
  std::uint64_t bytes_to_fetch() const;  // content that stands under two paths counts once
};

// "model acme/x, revision main".
std::string subject_of(const DownloadRequest& request);

// The name that the cache is to know the commit by; empty: none.
std::string ref_of(const DownloadRequest& request);

// Asks for the revision's commit, unless it is one, and for its files: a request for each 1,000, or a single
// one for up to 50 named files. A named file that the revision does not have is Error{not_found}, and the
// cache remembers that.
DownloadPlan plan_download(const Hub& hub, const Store& store, const DownloadRequest& request);

// Where the files of a plan go.
std::unique_ptr<Target> make_target(const Store& store, const DownloadRequest& request,
                                    const DownloadPlan& plan);

}  // namespace hf::cache
