// Which repository: the Hub's kinds of them, and the rules for names that become folders and URLs.
#pragma once
#include <string>
#include <string_view>

namespace hf::cache {

// A kernel is never fetched: huggingface_hub 1.33 and later keep some in the same cache, where they are
// listed and removed like any other.
enum class RepoType { model, dataset, space, kernel };

RepoType repo_type_of(std::string_view name);         // "model", "dataset", "space"; else Error{usage}
RepoType cached_repo_type_of(std::string_view name);  // and "kernel"
std::string_view name_of(RepoType type);

struct Repo {
  std::string id;  // "name" or "namespace/name"
  RepoType type = RepoType::model;

  bool operator==(const Repo&) const = default;
};

// Throws Error{usage} unless each part of the id is 1 to 96 letters, digits or "-_.", not beginning or ending
// in "-" or ".", without "--", "..", and not ending in ".git": the Hub's own rule, and what keeps an id one
// folder.
void check_repo(const Repo& repo);

// Throws Error{usage} unless `revision` can be the name of a file below refs/.
void check_revision(std::string_view revision);

bool is_commit(std::string_view text);  // 40 lower-case hex digits
bool is_etag(std::string_view text);    // 40 or 64 of them: what a blob may be called

// "models--namespace--name", and back; an id of no valid repository where the name is not such a folder.
std::string folder_name(const Repo& repo);
bool parse_folder_name(std::string_view folder, Repo& repo);

}  // namespace hf::cache
