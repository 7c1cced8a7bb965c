// The local side: a cache in Hugging Face's own layout, so that huggingface_hub and transformers read what we
// write and we read what they wrote.
//
//   <root>/models--org--name/blobs/<etag>               content, named by its hash
//                            refs/<branch or tag>       40 hex digits, no newline
//                            snapshots/<commit>/<path>  relative links into blobs/
//                            trees/<commit>.json        what the revision holds
//   <root>/.locks/models--org--name/<etag>.lock
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "cache/hub/repo.h"
#include "cache/store/link_support.h"

namespace hf::cache {

// The folder of a snapshot in the user's cache, with no network: what the other programs need. `revision` is
// a branch, a tag or a commit. Error{not_found} names what is missing and where it was looked for.
std::filesystem::path locate(std::string_view repo_id, std::string_view revision = "main");

// Where the cache is: `cache_dir` where it is given, HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, transformers 4's
// own TRANSFORMERS_CACHE, PYTORCH_TRANSFORMERS_CACHE, PYTORCH_PRETRAINED_BERT_CACHE (not expanded, as there),
// then <hf_home>/hub.
std::filesystem::path cache_root(const Environment& environment,
                                 const std::optional<std::filesystem::path>& cache_dir = std::nullopt);

// The variable that says where the cache is; null where none does.
const char* cache_root_variable(const Environment& environment);

// What a ref's file says. Without a line end is what huggingface_hub writes; other tools and editors append
// one.
std::string without_line_end(std::string text);

class Store {
 public:
  // That of the user: at cache_root(), with links unless HF_HUB_DISABLE_SYMLINKS says no.
  static Store of(const Environment& environment,
                  const std::optional<std::filesystem::path>& cache_dir = std::nullopt);

  // The root need not exist.
  explicit Store(std::filesystem::path root, Links links = Links::where_possible)
      : root_(std::move(root)), links_(links) {}

  const std::filesystem::path& root() const { return root_; }
  Links links() const { return links_; }
  std::filesystem::path folder(const Repo& repo) const;

  // What a ref of the cache says; a commit stands for itself. Nothing where the cache does not know.
  std::optional<std::string> commit_of(const Repo& repo, std::string_view revision) const;

  // The folder of a revision. Error{not_found} as for locate().
  std::filesystem::path snapshot(const Repo& repo, std::string_view revision) const;

 private:
  std::filesystem::path root_;
  Links links_;
};

}  // namespace hf::cache
