#include "cache/store/scan.h"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/thread_pool.h"
#include "cache/store/scan_repo.h"
#include "cache/store/synthetic_commits.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

bool is_hash(std::string_view text) { return text.size() == 64 && is_etag(text); }

// transformers before 4.22: "<sha256 of the URL>.<sha256 of the etag>", ".h5", and ".json" and ".lock" beside
// it.
bool is_flat_name(std::string_view name) {
  if (name.size() < 64 || !is_hash(name.substr(0, 64))) return false;
  name.remove_prefix(64);
  if (name.size() > 64 && name[0] == '.' && is_hash(name.substr(1, 64))) name.remove_prefix(65);
  return name.empty() || name == ".h5" || name == ".json" || name == ".lock" || name == ".h5.json" ||
         name == ".h5.lock";
}

// The data set library's: "<namespace>___<name>" and its downloads.
bool is_of_datasets(std::string_view name) { return name.find("___") != name.npos || name == "downloads"; }

class RootScan {
 public:
  RootScan(const fs::path& path, Folder& root, CacheContents& found)
      : path_(path), root_(root), found_(found) {}

  void read() {
    has_shared_store_ = has_shared_store(root_);
    for (const FolderEntry& entry : root_.entries()) read_entry(entry);
    if (root_.error() != 0) throw system_error(shown(path_), root_.error());
    read_repos();
    if (has_shared_store_) found_.shared = shared_blobs(root_);
    tell_foreign();
    add_up();
  }

 private:
  void read_entry(const FolderEntry& entry) {
    const std::string& name = entry.name;
    for (const char* known : {".locks", "CACHEDIR.TAG", "version.txt", "version_diffusers_cache.txt"})
      if (name == known) return;
    if (is_litter(name)) return;
    if (name == "blobs" && has_shared_store_) return;
    Repo repo;
    if (is_folder(entry) && parse_folder_name(name, repo)) {
      repos_.emplace_back(name, std::move(repo));
    } else if (entry.kind == EntryKind::file && is_flat_name(name)) {
      ++flat_files_;
    } else if (is_folder(entry) && is_of_datasets(name)) {
      ++datasets_;
    } else {
      found_.problems.push_back(escaped(name) + " is no repository and nothing else of a cache");
    }
  }

  // Reading folders is the kernel's work and little of ours: it goes on all cores.
  void read_repos() {
    found_.repos.resize(repos_.size());
    ThreadPool pool(std::min<std::size_t>(repos_.size(), std::thread::hardware_concurrency()));
    pool.for_each(repos_.size(), [&](std::size_t i) {
      auto& [name, repo] = repos_[i];
      found_.repos[i] = scan_repo(root_, name, std::move(repo), path_ / name, has_shared_store_);
    });
  }

  bool is_folder(const FolderEntry& entry) const {
    if (entry.kind != EntryKind::link) return entry.kind == EntryKind::folder;
    const auto info = root_.target_info(entry.name);
    return info && info->kind == EntryKind::folder;
  }

  void tell_foreign() {
    if (flat_files_ > 0)
      found_.problems.push_back(
          std::to_string(flat_files_) +
          " files of the flat cache of transformers before 4.22: hfcache adopt takes them over");
    if (datasets_ > 0)
      found_.problems.push_back(std::to_string(datasets_) +
                                " folders of the datasets library, which keeps its own cache");
  }

  void add_up() {
    for (const CachedRepo& repo : found_.repos) {
      for (const CachedContent& content : repo.contents)
        if (content.shared.empty() && content.is_inside()) found_.bytes += content.info.bytes;
      found_.bytes += repo.partial_bytes;
    }
    for (const SharedBlob& blob : found_.shared) found_.bytes += blob.info.bytes;
  }

  const fs::path& path_;
  Folder& root_;
  CacheContents& found_;
  std::vector<std::pair<std::string, Repo>> repos_;  // by the names of their folders
  bool has_shared_store_ = false;
  std::uint64_t flat_files_ = 0, datasets_ = 0;
};

void mark_synthetic(const Store& store, CacheContents& cache) {
  for (CachedRepo& repo : cache.repos) try {
      const auto commits = synthetic_commits(store, repo.repo);
      for (CachedRevision& revision : repo.revisions)
        revision.is_synthetic = commits.contains(revision.commit);
    } catch (const Error& error) {
      repo.problems.push_back(error.what());
    }
}

}  // namespace

CacheContents contents_of(const Store& store) {
  CacheContents found;
  const fs::path path = fs::absolute(store.root()).lexically_normal();
  Folder root(path.string(), Folder::Links::follow);
  if (root.error() == ENOENT) return found;
  if (root.error() == ENOTDIR)
    throw Error(ErrorKind::io, shown(path) + ": is no folder, the folder of a cache is expected");
  if (root.error() != 0) throw system_error(shown(path), root.error());
  RootScan(path, root, found).read();
  mark_synthetic(store, found);
  std::sort(found.repos.begin(), found.repos.end(), [](const CachedRepo& a, const CachedRepo& b) {
    return std::tie(a.repo.type, a.repo.id) < std::tie(b.repo.type, b.repo.id);
  });
  return found;
}

std::vector<CachedRepo> scan(const Store& store) { return contents_of(store).repos; }

}  // namespace hf::cache
