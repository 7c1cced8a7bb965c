// Is what a cache holds what its names say? No network: a blob's name is the hash of its bytes, and the lists
// of the revisions (trees/<commit>.json) tell what the snapshots must be.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "cache/store/content_reader.h"
#include "cache/store/store.h"

namespace hf::cache {

enum class Verdict {
  ok,
  wrong,         // other bytes, another length, a link or a ref that is not what it must be
  missing,       // something refers to it
  unverifiable,  // nothing tells what it should be
};
std::string_view name_of(Verdict verdict);

// A content, or a link, a ref or a list of files that has something wrong with it by itself.
struct Checked {
  std::string path;                // below the repository's folder: "blobs/<etag>", "refs/main"
  std::vector<std::string> names;  // of the snapshots' files that stand for it: "<commit>/<path>"
  std::string etag;                // empty where none is known
  std::uint64_t bytes = 0;
  Verdict verdict = Verdict::ok;
  std::string why;  // of every verdict but ok

  FileIdentity identity = {};  // of what was hashed: a later run takes it over while nobody has touched it
};

struct CheckedRepo {
  std::string folder;  // below the cache: "models--org--name"; "blobs" for what several repositories share
  std::optional<Repo> repo;                       // nothing for "blobs" and for a folder of the user's
  std::vector<Checked> files;                     // sorted by path
  std::map<std::string, std::uint64_t> left_out;  // by commit: files of its list that were never downloaded
};

struct VerifyReport {
  std::vector<CheckedRepo> repos;  // sorted by folder
  std::uint64_t bytes_read = 0;

  std::uint64_t count(Verdict verdict) const;
};

struct VerifyRequest {
  std::vector<Repo> repos = {};              // none: all
  std::optional<std::string> revision = {};  // only what this one of each repository needs
  bool complete = false;                     // files of a list that were never downloaded are missing
  std::size_t threads = 0;                   // 0: one a core
  const VerifyReport* before =
      nullptr;  // an earlier run's: what was ok and has not changed is not read again
};

// Each content is read once, however many links lead to it. Access times stay. Error{not_found} for a
// repository or a revision that is not in the cache; whatever is wrong inside of it is a verdict.
VerifyReport verify(const Store& store, const VerifyRequest& request, Progress& progress);

// The same for a folder that was downloaded into (--local-dir): by what was noted in its .cache/huggingface,
// which does not tell the repository. `names` are of the commit that the note tells.
VerifyReport verify_folder(const std::filesystem::path& folder, const VerifyRequest& request,
                           Progress& progress);

}  // namespace hf::cache
