// The kinds of places that content is adopted from, each read into the revisions that it may be; nothing is
// hashed yet.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/mirror/adopt.h"

namespace hf::cache {

// What finding the revisions needs to know. `by_content`: nothing that tells a commit is believed.
struct AdoptContext {
  std::filesystem::path path;
  const Store& store;
  const AdoptRequest& request;
  const Hub* hub = nullptr;
  bool by_content = false;
};

bool is_repo_folder(const std::filesystem::path& path);  // models--org--name
bool has_repo_folders(const std::filesystem::path& path);
bool has_flat_files(const std::filesystem::path& path);

void find_in_folder(const AdoptContext& context, AdoptPlan& plan);
void find_in_repo_folder(const AdoptContext& context, AdoptPlan& plan);
void find_in_cache(const AdoptContext& context, AdoptPlan& plan);  // in each repository's folder
void find_in_flat_cache(const AdoptContext& context, AdoptPlan& plan);

// What a file of transformers' flat cache was fetched from; nothing for a URL that does not say it for
// certain.
struct FlatOrigin {
  Repo repo;
  std::string revision, path;
  bool operator==(const FlatOrigin&) const = default;
};
std::optional<FlatOrigin> parse_flat_url(std::string_view url);

// What the Hub says of a commit and of a branch or tag; nothing, and a warning in the plan, where it does not
// or there is none.
std::optional<std::vector<TreeFile>> ask_tree(const AdoptContext& context, const Repo& repo,
                                              const std::string& commit, AdoptPlan& plan);
std::optional<std::string> ask_commit(const AdoptContext& context, const Repo& repo,
                                      const std::string& revision, AdoptPlan& plan);

// Takes the hash and the size that a list tells for the file. False where the list does not have its path.
bool expect(AdoptedFile& file, const std::vector<TreeFile>& tree);
void expect(AdoptedFile& file, const std::string& etag);  // that something else told
// Whether git-lfs keeps each file, by the .gitattributes among them.
void mark_lfs_files(std::vector<AdoptedFile>& files);

}  // namespace hf::cache
