// Content that lies somewhere else, taken over into the cache: a clone or any folder of files, a folder that
// was downloaded into (--local-dir), another cache, the flat cache of transformers before 4.22. First a plan,
// for which every file is hashed, then its execution, which hashes the bytes that it publishes once more.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "cache/hub/hub.h"
#include "cache/store/content_reader.h"
#include "cache/store/store.h"

namespace hf::cache {

enum class AdoptMode {
  copy,  // blocks are shared where the file system can do that
  move,  // the source's files go when all is durable in the cache
  link,  // hard links: one file under two names
};

struct AdoptRequest {
  std::optional<Repo> repo = {};           // must be given for a folder of files; else: only this one
  std::optional<std::string> commit = {};  // what the files are a revision of
  std::optional<std::string> ref = {};     // to write instead of what the source tells, else "main"
  bool synthetic = false;                  // make up a commit where nothing tells it
  AdoptMode mode = AdoptMode::copy;
  std::size_t threads = 0;  // that hash; 0: one a core
};

struct AdoptedFile {
  std::filesystem::path source = {};
  TreeFile file = {};        // its hash is the expected one, or, where none was told, what it comes to
  bool is_expected = false;  // the hash was told by the Hub, a list, a note or a blob's name
  bool is_lfs = false;       // by .gitattributes, where it was not told
  std::string sha256 = {};   // of the bytes
  FileIdentity identity = {};
  std::vector<std::filesystem::path> companions = {};  // notes of it, which go with it in a move
  std::string fault = {};  // why it cannot be taken: then its revision is not, unless it is `alone`
};

struct AdoptedRevision {
  Repo repo = {};
  std::string commit = {};  // empty until a synthetic one is computed
  bool is_synthetic = false;
  bool alone = false;  // each file by itself: a cache of files, not a revision's folder
  std::vector<std::string> refs = {};
  std::vector<AdoptedFile> files = {};             // sorted by path
  std::optional<std::vector<TreeFile>> tree = {};  // all files of the revision, where that is known
  std::vector<std::string> absent = {};            // paths that the Hub said are not there
  std::vector<std::filesystem::path> spent = {};   // what else of the source goes with a move, in this order
  std::string refusal = {};                        // why nothing of it is taken

  bool is_taken() const { return refusal.empty(); }
};

// What of the source is not taken. `is_fault`: though it should be.
struct LeftFile {
  std::filesystem::path source;
  std::string why;
  bool is_fault = false;
};

struct AdoptPlan {
  std::vector<AdoptedRevision> revisions;
  std::vector<LeftFile> left;
  std::vector<std::string> warnings;

  bool is_whole() const;  // no fault and no refusal
};

// `hub` may be nullptr: then nothing is asked. Error{usage} when it is not clear which repository or revision
// the files are, Error{not_found} when `path` is not there or holds nothing to take.
AdoptPlan plan_adopt(const std::filesystem::path& path, const Store& store, const AdoptRequest& request,
                     const Hub* hub, Progress& progress);

// Revisions that are refused are left out. Refs are written last, and a source's files go after that. On an
// Error the source is whole.
void adopt(const AdoptPlan& plan, const Store& store, AdoptMode mode, Progress& progress);

}  // namespace hf::cache
