// What there is to verify, found without reading any content.
#pragma once
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/hub/answers.h"
#include "cache/store/verify.h"

namespace hf::cache {

// A content that must be read for its verdict.
struct ContentToRead {
  Checked* checked = nullptr;
  std::filesystem::path path;
  std::string sha256;  // recorded besides the etag; empty where it is not
};

// What one repository comes to. Addresses in `to_read` stay good while the survey is moved.
struct RepoSurvey {
  RepoSurvey() = default;
  RepoSurvey(RepoSurvey&&) = default;  // never copied: `to_read` points into `files`
  RepoSurvey& operator=(RepoSurvey&&) = default;

  std::string folder;
  std::optional<Repo> repo;
  std::deque<Checked> files;
  std::vector<ContentToRead> to_read;
  std::map<std::string, std::uint64_t> left_out;
  std::vector<FileIdentity> shared;  // contents in the cache-wide blobs/ that its etags vouch for
};

RepoSurvey survey_repo(const Store& store, const Repo& repo, const VerifyRequest& request);

// The contents of the cache-wide blobs/ that no repository vouches for: their names are no hashes of their
// bytes.
RepoSurvey survey_shared(const Store& store, const std::vector<RepoSurvey>& repos);

RepoSurvey survey_folder(const std::filesystem::path& folder, const VerifyRequest& request);

}  // namespace hf::cache
