// What a cache holds, from its folders alone: no file's content is read but the refs'. One damaged entry
// never hides the others: it is told as a problem of its repository.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cache/store/folder.h"
#include "cache/store/shared_blobs.h"
#include "cache/store/store.h"

namespace hf::cache {

// One content of a repository: a blob, or a file that stands in a snapshot itself where links were not
// possible.
struct CachedContent {
  std::string path;    // in the repository's folder: "blobs/<etag>", "snapshots/<commit>/config.json"
  EntryInfo info;      // of the content; where the blob is a link into the shared store, of what it leads to
  std::string shared;  // the name in the shared store; empty: not there
  bool is_linked = false;  // a snapshot has it

  bool is_blob() const { return path.starts_with("blobs/"); }
  bool is_inside() const { return is_blob() || path.starts_with("snapshots/"); }  // not a link to elsewhere
};

struct CachedRevision {
  std::string commit;
  std::vector<std::string> refs;  // branches and tags that stand for it, sorted
  std::uint64_t files = 0, bytes = 0;
  std::filesystem::path path;
  FileTime last_used, last_modified;  // of its contents, the newest; of its folder where there are none
  FileTime touched;                   // when something was last put into its folders
  std::vector<std::size_t> contents;  // positions in the repository's, each once, ascending
  bool is_synthetic = false;          // of `hfcache adopt`: no Hub has that commit
};

// What an unfinished or killed program left, in the repository's folder.
struct Remnant {
  enum class Kind {
    partial,      // of our downloads, with its journal
    incomplete,   // of huggingface_hub's
    temporary,    // a file or link that was never given its name
    removed,      // a snapshot that was taken away and not yet deleted
    lone_ref,     // a ref to a commit that is not there: a download into a folder of the user's leaves one
    dead_ref,     // a ref that holds no commit
    list,         // trees/<commit>.json or .no_exist/<commit> of a revision that is not there
    empty_folder  // below refs/
  };
  std::string path;
  Kind kind;
  EntryInfo info;
  std::string commit;  // that a lone ref holds or a list is of; empty: none
};

struct CachedRepo {
  Repo repo;
  std::filesystem::path path;
  std::vector<CachedRevision> revisions;  // sorted by commit
  std::uint64_t files = 0, bytes = 0;     // of all snapshots, what several share counted once
  std::uint64_t unreferenced_bytes = 0;   // of blobs that no snapshot has
  std::uint64_t partial_bytes = 0;        // of unfinished downloads, ours and huggingface_hub's
  FileTime last_used, last_modified;      // as for a revision
  FileTime touched;                       // when something was last put into its folders, snapshots left out
  std::vector<CachedContent> contents;    // the blobs first, by name
  std::vector<Remnant> remnants;
  // Every folder below snapshots/ was read. Where it was not, nobody knows which blobs are in use; likewise
  // the refs and the revisions.
  bool links_are_known = true, refs_are_known = true;
  std::vector<std::string> problems;
};

struct CacheContents {
  std::vector<CachedRepo> repos;  // sorted by type and id
  std::vector<SharedBlob> shared;
  std::uint64_t bytes = 0;  // on the disk, with unreferenced blobs, partial files and the shared store
  std::vector<std::string> problems;  // of what stands beside the repositories
};

// A root that does not exist holds nothing; Error{io} for one that is no folder or cannot be read.
CacheContents contents_of(const Store& store);

// Its repositories alone.
std::vector<CachedRepo> scan(const Store& store);

}  // namespace hf::cache
