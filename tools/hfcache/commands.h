// The sub-commands of hfcache: what each is asked, and what does it. Each returns the program's exit code.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hf::cache {

struct CommonOptions {
  bool json = false, quiet = false;
  std::optional<std::filesystem::path> cache_dir;
};

struct DownloadOptions : CommonOptions {
  std::string repo_id, repo_type = "model", revision = "main";
  std::vector<std::string> files, include, exclude;
  bool force = false, dry_run = false;
  unsigned max_workers = 8;
  std::uint64_t checkpoint_bytes = 8u << 20;
  std::optional<std::filesystem::path> token_file;
};
int run_download(const DownloadOptions& options);

struct LsOptions : CommonOptions {};
int run_ls(const LsOptions& options);

struct PathOptions : CommonOptions {
  std::string repo_id, repo_type = "model", revision = "main";
  std::string file;  // empty: the snapshot's folder
};
int run_path(const PathOptions& options);

struct VerifyOptions : CommonOptions {
  std::vector<std::string> repo_ids;  // none: all of the cache
  std::string repo_type = "model";
  std::optional<std::string> revision;
  std::optional<std::filesystem::path> local_dir;
  bool strict = false, complete = false, repair = false;
  unsigned jobs = 0;  // 0: one a core
  std::optional<std::filesystem::path> token_file;
};
int run_verify(const VerifyOptions& options);

struct AdoptOptions : CommonOptions {
  std::vector<std::filesystem::path> paths;
  std::optional<std::string> repo_id, revision, ref;
  std::string repo_type = "model";
  bool synthetic = false, move = false, link = false, dry_run = false;
  unsigned jobs = 0;  // 0: one a core
  std::optional<std::filesystem::path> token_file;
};
int run_adopt(const AdoptOptions& options);

struct EnvOptions : CommonOptions {};
int run_env(const EnvOptions& options);

}  // namespace hf::cache
